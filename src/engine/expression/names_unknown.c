/* Errors for unknown names: similar names, and what could stand there. */
#include "engine/expression/names_unknown.h"
#include "engine/expression/expression.h"
#include "parser/foreign.h"

#include <string.h>

struct candidates candidates_new(struct arena *arena, size_t most)
{
    return (struct candidates){.at = arena_array(arena, most + 1, sizeof(const char *))};
}

void candidates_add_bindings(struct candidates *names, const struct env *env, enum binding_kind kind)
{
    for (size_t i = 0; i < env->count; i++) {
        if (env->bindings[i].kind == kind)
            names->at[names->count++] = env->bindings[i].name;
    }
}

/* Stage names of other tools are tried as functions, too: len(x), median(x). */
static const char *foreign_function(const char *name)
{
    const char *advice = foreign_advice(name, strlen(name), FOREIGN_FUNCTION);
    return advice != NULL ? advice : foreign_advice(name, strlen(name), FOREIGN_STAGE);
}

void name_unknown_function(struct scope *scope, const struct name *name)
{
    struct binder *binder = scope->binder;
    const struct word *word = word_find(name->text, strlen(name->text));
    const struct binding *binding = env_find(binder->env, name->text);
    if (binding != NULL && binding->kind == BINDING_STAGE) {
        bind_error(binder, name->span, arena_printf(binder->arena, "use it after a `|`: `| %s`", name->text),
                   "`%s` is a stage, not a function", name->text);
        return;
    }
    if (word != NULL && word->stage != STAGE_NONE) {
        bind_error(binder, name->span,
                   arena_printf(binder->arena, "use it as a stage: `| %s`", word_canonical(word)->usage),
                   "`%s` is a stage, not a function", name->text);
        return;
    }
    struct candidates names =
        candidates_new(binder->arena, function_count + aggregate_function_count + binder->env->count);
    const char *foreign = foreign_function(name->text);
    struct strbuf all = {0};
    strbuf_puts(&all, "`.help functions` lists them");
    for (size_t i = 0; i < function_count; i++)
        names.at[names.count++] = functions[i].name;
    for (size_t i = 0; i < aggregate_function_count; i++)
        names.at[names.count++] = aggregate_functions[i].name;
    size_t own = names.count;
    candidates_add_bindings(&names, binder->env, BINDING_FUNCTION);
    for (size_t i = own; i < names.count; i++)
        strbuf_printf(&all, "%s%s", i == own ? "; defined here: " : " ", names.at[i]);
    bind_error(binder, name->span, foreign != NULL ? foreign : all.text, "unknown function `%s`%s", name->text,
               did_you_mean(binder->arena, name->text, names.at, names.count));
    strbuf_free(&all);
}

/* Finds a file that `load NAME` may have meant: NAME, or NAME with a known extension. */
static const char *find_file(struct arena *arena, const char *name)
{
    struct file_stamp stamp;
    if (file_stamp_of(name, &stamp))
        return name;
    const char *binary = arena_printf(arena, "%s.bin", name);
    if (file_stamp_of(binary, &stamp))
        return binary;
    for (int type = TYPE_I8; type < TYPE_COUNT; type++) {
        const char *path = arena_printf(arena, "%s%s", name, type_table[type].extension);
        if (file_stamp_of(path, &stamp))
            return path;
    }
    return NULL;
}

void name_unknown_relation(struct binder *binder, const struct name *name)
{
    struct candidates names = candidates_new(binder->arena, binder->env->count);
    candidates_add_bindings(&names, binder->env, BINDING_RELATION);
    candidates_add_bindings(&names, binder->env, BINDING_SCALAR);
    const char *file = find_file(binder->arena, name->text);
    const struct word *word = word_find(name->text, strlen(name->text));
    const char *foreign = foreign_advice(name->text, strlen(name->text), FOREIGN_STATEMENT);
    if (foreign == NULL)
        foreign = foreign_advice(name->text, strlen(name->text), FOREIGN_VALUE);
    const char *hint = "`load PATH` reads a file, `let NAME = PIPELINE` names a result";
    if (strcmp(name->text, ENV_LAST) == 0)
        hint = "at the prompt `_` is the last result, if there is one; in a script, name results with `let NAME = ...`";
    else if (word != NULL && word->stage != STAGE_NONE)
        hint = arena_printf(
            binder->arena,
            "`%s` is a stage: it follows a source and `|`; at the prompt, `| %s` continues from the last result",
            name->text, name->text);
    else if (foreign != NULL)
        hint = foreign;
    else if (file != NULL)
        hint = arena_printf(binder->arena, "there is a file of that name: `load %s%s%s`",
                            file == name->text ? "\"" : "", file, file == name->text ? "\"" : "");
    bind_error(binder, name->span, hint, "unknown relation or value `%s`%s", name->text,
               did_you_mean(binder->arena, name->text, names.at, names.count));
}

void name_unknown_argument(struct binder *binder, const struct name *name, const char *argument)
{
    bind_error(binder, name->span,
               arena_printf(binder->arena, "pass it as `--arg %s=VALUE` on the command line, or write `let %s = VALUE`",
                            argument, argument),
               "unknown argument `$%s`", argument);
}

const char *name_hint_of_text(const struct binder *binder, const struct expr *expr, const struct flow *flow)
{
    for (size_t k = 0; expr && expr->kind == EXPR_TEXT && flow && k < flow->count; k++) {
        const char *name = flow->columns[k].name;
        if (name && strcmp(expr->text, name) == 0)
            return arena_printf(
                binder->arena, "the column is written %s%s",
                name_is_plain(name) ? "without quotes: " : "in backquotes: ", name_written(name, binder->arena));
    }
    return NULL;
}
