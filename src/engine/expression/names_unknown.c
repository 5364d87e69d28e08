/* Errors for unknown names: similar names, and what could stand there. */
#include "engine/expression/names_unknown.h"

#include "engine/bind/facts.h"
#include "engine/expression/expression.h"
#include "engine/expression/named_aggregates.h"
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

void candidates_add_columns(struct candidates *names, const struct flow *flow)
{
    for (size_t i = 0; i < flow->count; i++)
        names->at[names->count++] = flow->columns[i].name;
}

static bool is_within(const char *column, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(column, name, length) == 0 && column[length] == '.';
}

bool name_is_struct(const struct flow *flow, const char *name)
{
    bool found = false;
    for (size_t k = 0; flow && k < flow->count && !found; k++)
        found = is_within(flow->columns[k].name, name);
    return found;
}

void name_is_several(struct scope *scope, const struct name *name)
{
    struct arena *arena = scope->binder->arena;
    struct flow fields = {.columns = arena_array(arena, scope->flow->count, sizeof *fields.columns)};
    for (size_t k = 0; k < scope->flow->count; k++) {
        if (is_within(scope->flow->columns[k].name, name->text))
            fields.columns[fields.count++] = scope->flow->columns[k];
    }
    bind_error(scope->binder, name->span,
               arena_printf(arena, "%s %s", fields.count == 1 ? "its column is" : "its columns are",
                            text_of_columns(arena, &fields)),
               "`%s` has columns of its own, but here is one value", name->text);
}

/* Stage names of other tools are tried as functions, too: len(x), median(x). */
static const char *foreign_function(const char *name)
{
    const char *advice = foreign_advice(name, strlen(name), FOREIGN_FUNCTION);
    return advice ? advice : foreign_advice(name, strlen(name), FOREIGN_STAGE);
}

void name_unknown_function(struct scope *scope, const struct name *name)
{
    struct binder *binder = scope->binder;
    const struct word *word = word_find(name->text, strlen(name->text));
    const struct binding *binding = env_find(binder->env, name->text);
    if (binding && binding->kind == BINDING_STAGE) {
        bind_error(binder, name->span, arena_printf(binder->arena, "use it after a `|`: `| %s`", name->text),
                   "`%s` is a stage, not a function", name->text);
        return;
    }
    if (word && word->stage != STAGE_NONE) {
        bind_error(binder, name->span,
                   arena_printf(binder->arena, "use it as a stage: `| %s`", word_canonical(word)->usage),
                   "`%s` is a stage, not a function", name->text);
        return;
    }
    if (strchr(name->text, '.')) { /* worded as an error of syntax, which rewrites correct */
        bind_error(binder, name->span, "functions stand before their arguments, as in `round(x)`",
                   "expected a function, found `%s`", name->text);
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
    const size_t own = names.count;
    candidates_add_bindings(&names, binder->env, BINDING_FUNCTION);
    for (size_t i = own; i < names.count; i++)
        strbuf_printf(&all, "%s%s", i == own ? "; defined here: " : " ", names.at[i]);
    bind_error(binder, name->span, foreign ? foreign : all.text, "unknown function `%s`%s", name->text,
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
    if (!foreign)
        foreign = foreign_advice(name->text, strlen(name->text), FOREIGN_VALUE);
    const char *hint = "`load PATH` reads a file, `let NAME = PIPELINE` names a result";
    if (strcmp(name->text, ENV_LAST) == 0)
        hint = "at the prompt `_` is the last result, if there is one; in a script, name results with `let NAME = ...`";
    else if (word && word->stage != STAGE_NONE)
        hint = arena_printf(
            binder->arena,
            "`%s` is a stage: it follows a source and `|`; at the prompt, `| %s` continues from the last result",
            name->text, name->text);
    else if (foreign)
        hint = foreign;
    else if (file)
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

static struct candidates candidates_of_scope(const struct scope *scope)
{
    const struct env *env = scope->binder->env;
    const size_t columns = scope->flow ? scope->flow->count : 0;
    const size_t heads = scope->head ? scope->head->count : 0;
    size_t aggregates = 0;
    for (const struct named_aggregate *named = scope->binder->named; named; named = named->before)
        aggregates++;
    struct candidates names = candidates_new(scope->binder->arena, scope->parameter_count + heads + columns +
                                                                       MOST_AXES + aggregates + env->count);
    for (size_t i = 0; i < scope->parameter_count; i++)
        names.at[names.count++] = scope->parameters[i].text;
    for (size_t i = 0; i < heads; i++)
        names.at[names.count++] = scope->head->names[i].text;
    if (scope->flow)
        candidates_add_columns(&names, scope->flow);
    for (size_t i = 0; i < MOST_AXES; i++) {
        if (scope->flow && scope->shape.names[i])
            names.at[names.count++] = scope->shape.names[i];
    }
    for (const struct named_aggregate *named = scope->binder->named; named; named = named->before)
        names.at[names.count++] = named->name.text;
    candidates_add_bindings(&names, env, BINDING_SCALAR);
    return names;
}

const char *name_hint_of_columns(const struct scope *scope)
{
    struct arena *arena = scope->binder->arena;
    if (!scope->flow)
        return scope->no_columns;
    if (scope->of_groups)
        return "in a group, a column is a key, or within an aggregate as in `sum(x)`";
    const char *columns = text_of_columns(arena, scope->flow), *axes = "";
    for (size_t i = 0; i < MOST_AXES; i++) {
        if (scope->shape.names[i])
            axes =
                arena_printf(arena, "%s%s`%s`", axes, *axes != '\0' ? ", " : "; the axes are ", scope->shape.names[i]);
    }
    return arena_printf(arena, scope->flow->count == 1 ? "the only column is %s%s" : "the columns are %s%s", columns,
                        axes);
}

static const char *usage_of_function(struct scope *scope, const char *name)
{
    const struct function *function = function_find(name);
    if (function)
        return function->usage;
    const struct binding *binding = env_find(scope->binder->env, name);
    if (!binding || binding->kind != BINDING_FUNCTION)
        return NULL;
    return arena_printf(scope->binder->arena, "%s(...)", name);
}

/* The definition of this name by an earlier expression of the stage, or NULL. */
static const struct name *given_before(const struct scope *scope, const char *name)
{
    for (size_t i = 0; i < scope->given_count; i++) {
        if (scope->given[i].name.text && strcmp(scope->given[i].name.text, name) == 0)
            return &scope->given[i].name;
    }
    return NULL;
}

bool name_is_unreadable(struct scope *scope, const struct name *name)
{
    struct binder *binder = scope->binder;
    const struct unreadable_column *column =
        scope->flow ? sources_unreadable(&binder->facts->sources, name->text) : NULL;
    if (column)
        bind_error(binder, name->span, name_hint_of_columns(scope), "column `%s` cannot be read: %s", name->text,
                   column->why);
    return column;
}

bool name_means_other(struct scope *scope, const struct name *name, bool may_be_column)
{
    const struct name *given = given_before(scope, name->text);
    struct binder *binder = scope->binder;
    const struct binding *binding = env_find(binder->env, name->text);
    const char *usage = usage_of_function(scope, name->text);
    const char *foreign = foreign_advice(name->text, strlen(name->text), FOREIGN_VALUE);
    if (binding && binding->kind == BINDING_RELATION && !may_be_column)
        bind_error(binder, name->span,
                   arena_printf(binder->arena, "use a relation as a source: `%s | ...`, or one of its values: `%s[E]`",
                                name->text, name->text),
                   "`%s` is a relation, not a value", name->text);
    else if (name_is_unreadable(scope, name))
        return true;
    else if (usage)
        bind_error(binder, name->span, arena_printf(binder->arena, "call it as %s", usage),
                   "`%s` is a function, not a value", name->text);
    else if (named_aggregate_find(binder, name->text))
        bind_error(binder, name->span, "it can be used where rows are computed, as in `map x - m`",
                   "`%s` is known only when the rows before it are", name->text);
    else if (foreign)
        bind_error(binder, name->span, foreign, "unknown word `%s`", name->text);
    else if (given && !scope->only_name.text)
        bind_error_second(binder, name->span, given->span, "named here",
                          "expressions see the columns before the stage; use it in the next stage",
                          "`%s` is a column only in later stages", name->text);
    else
        return false;
    return true;
}

void name_unknown_value(struct scope *scope, const struct name *name)
{
    struct binder *binder = scope->binder;
    struct candidates names = candidates_of_scope(scope);
    bind_error(binder, name->span, name_hint_of_columns(scope), "unknown %s `%s`%s",
               scope->flow ? "column or value" : "value", name->text,
               did_you_mean(binder->arena, name->text, names.at, names.count));
}
