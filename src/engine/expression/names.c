/* Resolves names by the rules of docs/language.md; errors where none applies. */
#include "base/text.h"
#include "engine/expression/expression.h"
#include "engine/expression/named_aggregates.h"
#include "engine/expression/names_unknown.h"

#include "base/utf8.h"

#include <string.h>

/* Finds the columns that the name abbreviates: their number, and the first of them. At the prompt it begins the name or
 * one of its words or, where it begins none, has letters of a word; names of files may be shortened so everywhere, for
 * they are not in the data. */
static size_t find_abbreviated(const struct scope *scope, const char *name, size_t *index)
{
    const struct flow *flow = scope->flow;
    size_t found = 0;
    if (!flow)
        return 0;
    const bool prompt = scope->binder->env->abbreviates;
    for (size_t i = 0; i < flow->count && prompt; i++) {
        if (name_abbreviates(name, flow->columns[i].name) && found++ == 0)
            *index = i;
    }
    for (size_t i = 0, none = found; i < flow->count && none == 0; i++) {
        const char *column = flow->columns[i].name;
        if (name_shortens(name, column) && (prompt || flow->columns[i].of_file) && found++ == 0)
            *index = i;
    }
    return found;
}

const struct slot *flow_column(const struct flow *flow, const char *name)
{
    return ROW_NAMED(flow->columns, flow->count, name);
}

size_t flow_place(const struct flow *flow, const char *name)
{
    const struct slot *column = flow_column(flow, name);
    return column ? (size_t)(column - flow->columns) : flow->count;
}

struct input flow_input(const struct flow *flow, size_t k)
{
    return (struct input){
        .task = flow->task, .output = k, .type = flow->columns[k].type, .name = flow->columns[k].name};
}

struct input flow_whole(const struct flow *flow, size_t k)
{
    struct input input = flow_input(flow, k);
    input.whole = true;
    return input;
}

static bool find_column(const struct flow *flow, const char *name, size_t *index)
{
    const struct slot *column = flow_column(flow, name);
    if (column)
        *index = (size_t)(column - flow->columns);
    return column;
}

static bool find_name(const struct name *names, size_t count, const char *name, size_t *index)
{
    const struct name *found = ROW_NAMED(names, count, name);
    if (found)
        *index = (size_t)(found - names);
    return found;
}

static void ambiguous(struct scope *scope, const struct name *name)
{
    struct arena *arena = scope->binder->arena;
    const struct flow *flow = scope->flow;
    struct flow several = {.columns = arena_array(arena, flow->count, sizeof *flow->columns)};
    for (size_t i = 0; i < flow->count; i++) {
        if (name_abbreviates(name->text, flow->columns[i].name))
            several.columns[several.count++] = flow->columns[i];
    }
    bind_error(scope->binder, name->span, "write more letters of the name", "`%s` is ambiguous: %s", name->text,
               text_of_columns(arena, &several));
}

/* Tells what an abbreviation was taken for. */
static void note_abbreviation(struct scope *scope, const char *name, const char *meant)
{
    struct binder *binder = scope->binder;
    diag_note(binder->diags, (struct span){0}, "%s = %s", name, name_written(meant, binder->arena));
    diags_drop_repeated_note(binder->diags);
}

bool name_is_parameter(const struct scope *scope, const char *name, size_t *index)
{
    return find_name(scope->parameters, scope->parameter_count, name, index);
}

bool name_is_taken(const struct scope *scope, const char *name)
{
    size_t index;
    return name_is_parameter(scope, name, &index) ||
           (scope->head && find_name(scope->head->names, scope->head->count, name, &index)) ||
           (scope->flow && find_column(scope->flow, name, &index));
}

bool name_position(struct scope *scope, int64_t position, struct span span, size_t *index)
{
    const struct flow *flow = scope->flow;
    struct arena *arena = scope->binder->arena;
    if (!flow)
        return bind_error(scope->binder, span, scope->no_columns, "there are no columns here");
    if (flow->open)
        return false;
    if (position < 1 || (uint64_t)position > flow->count) {
        const char *hint = position < 1 ? "the first column is `$1`" : name_hint_of_columns(scope);
        return bind_error(scope->binder, span, hint, "there is no column %lld: the relation has %s",
                          (long long)position, text_of_count(arena, (int64_t)flow->count, "column"));
    }
    *index = (size_t)position - 1;
    return true;
}

/* fst, snd */
static bool positional_word(const char *name, int64_t *position)
{
    *position = strcmp(name, "fst") == 0 ? 1 : strcmp(name, "snd") == 0 ? 2 : 0;
    return *position != 0;
}

const struct binding *name_constant(const char *name)
{
    static const struct binding pi = {
        .kind = BINDING_SCALAR, .name = "pi", .scalar = {.kind = KIND_FLOAT, .number = 3.14159265358979323846}};
    return strcmp(name, "pi") == 0 ? &pi : NULL;
}

static struct resolved meaning(enum meaning what, size_t index)
{
    return (struct resolved){.meaning = what, .index = index};
}

static bool has_only_column(const struct scope *scope)
{
    return scope->flow && scope->flow->count == 1 && !scope->head && !scope->of_groups;
}

/* The only column, if the name may mean it: `x`, or the first unknown name where no column ever had one. */
static bool is_only_column(struct scope *scope, const struct name *name)
{
    if (!has_only_column(scope))
        return false;
    if (strcmp(name->text, "x") == 0)
        return true;
    if (scope->flow->nameless && !scope->only_name.text)
        scope->only_name = *name;
    return scope->only_name.text && strcmp(scope->only_name.text, name->text) == 0;
}

/* Whether the name is that of the relation that the pipeline begins with, and of its only column, which has no name of
 * its own. */
static bool is_source_of_one(const struct scope *scope, const struct name *name)
{
    const struct pipeline *pipeline = scope->binder->pipeline;
    const struct rounds *rounds = scope->binder->rounds;
    for (; rounds && pipeline && pipeline->source.kind == SOURCE_NAME &&
           pipeline->source.name.text[0] == ' '; /* the hidden name of a round's rows */
         rounds = rounds->outer)
        pipeline = rounds->around;
    return has_only_column(scope) && strcmp(scope->flow->columns[0].name, "c1") == 0 && pipeline &&
           pipeline->source.kind == SOURCE_NAME && strcmp(pipeline->source.name.text, name->text) == 0;
}

/* Reports a name without a meaning in an expression, or resolves it to the only column. */
static struct resolved unknown(struct scope *scope, const struct name *name)
{
    const bool column = has_only_column(scope) && (strcmp(name->text, ENV_LAST) == 0 || strcmp(name->text, "x") == 0);
    const bool source = is_source_of_one(scope, name);
    if (name_means_other(scope, name, column || source))
        return meaning(MEANS_UNKNOWN, 0);
    if (source || is_only_column(scope, name))
        return meaning(MEANS_COLUMN, 0);
    name_unknown_value(scope, name);
    return meaning(MEANS_UNKNOWN, 0);
}

static struct resolved resolve_scalar(struct scope *scope, const struct name *name, const struct binding *binding)
{
    if (strcmp(name->text, ENV_LAST) == 0 && has_only_column(scope)) {
        bind_error(scope->binder, name->span, "`$1` is the column; `let NAME = _` names the result",
                   "`_` is the last result, not the column");
        return meaning(MEANS_UNKNOWN, 0);
    }
    return (struct resolved){.meaning = MEANS_SCALAR, .binding = binding};
}

/* Whether the name is the terminal's value, unabbreviated. */
static bool is_subject(const struct scope *scope, const char *name)
{
    const struct subject *subject = scope->subject;
    size_t index;
    return subject && (strcmp(name, ENV_LAST) == 0 || strcmp(name, subject->value.name) == 0 ||
                       (subject->head && find_name(subject->head->names, 1, name, &index)));
}

static bool known_only_when_run(const struct binding *binding)
{
    return binding && binding->kind == BINDING_RELATION && binding->unknown && !binding->relation;
}

/* Resolves a parameter of the head or, after these, a column. MEANS_UNKNOWN: neither; `*final` if only running can
 * tell. */
static struct resolved resolve_in_flow(const struct scope *scope, const char *name, bool *final)
{
    size_t index;
    *final = false;
    if (scope->head && find_name(scope->head->names, scope->head->count, name, &index)) {
        *final = scope->flow->open || index >= scope->flow->count;
        return *final ? meaning(MEANS_UNKNOWN, 0) : meaning(MEANS_COLUMN, index);
    }
    if (find_column(scope->flow, name, &index))
        return meaning(MEANS_COLUMN, index);
    *final = scope->flow->open;
    return meaning(MEANS_UNKNOWN, 0);
}

/* An argument that is no literal of another type is a text. */
static struct resolved text_argument(struct arena *arena, const char *text)
{
    struct binding *binding = ARENA_NEW(arena, struct binding, .kind = BINDING_SCALAR);
    binding->scalar = (struct scalar){
        .kind = KIND_INT, .logical = {.kind = LOGICAL_TEXT}, .text = {.at = text, .length = strlen(text)}};
    return (struct resolved){.meaning = MEANS_SCALAR, .binding = binding};
}

/* Resolves $NAME: a `let` value or an argument of the command line, whatever the columns are. */
static struct resolved resolve_argument(struct scope *scope, const struct name *name, const char *argument)
{
    struct binder *binder = scope->binder;
    const struct binding *binding = env_find(binder->env, argument);
    const char *text = env_argument(binder->env, argument, strlen(argument));
    if (binding && binding->kind == BINDING_SCALAR)
        return (struct resolved){.meaning = MEANS_SCALAR, .binding = binding};
    if (binding && binding->kind == BINDING_RELATION && !known_only_when_run(binding))
        bind_error(binder, name->span, NULL, "`%s` is a relation, not a value", name->text);
    else if (binding && binding->kind == BINDING_FUNCTION)
        bind_error(binder, name->span, arena_printf(binder->arena, "call it as %s(...)", argument),
                   "`%s` is a function, not a value", name->text);
    else if (!binding && text && utf8_is_valid(text, strlen(text)))
        return text_argument(binder->arena, text);
    else if (!binding && text)
        bind_error(binder, name->span, "as a path it is taken as it is", "`%s` is no text: it is not UTF-8",
                   name->text);
    else if (!binding)
        name_unknown_argument(binder, name, argument);
    return meaning(MEANS_UNKNOWN, 0);
}

/* Resolves a name of `with`. Pipelines within the one that has it have other rows and tasks. */
static struct resolved resolve_named(struct scope *scope, const struct name *name, const struct named_aggregate *named)
{
    struct binder *binder = scope->binder;
    const struct binding *binding = env_find(binder->env, name->text);
    if (named->pipeline == binder->pipeline)
        return (struct resolved){.meaning = MEANS_NAMED, .named = named};
    if (binding && binding->kind == BINDING_SCALAR)
        return resolve_scalar(scope, name, binding);
    bind_error(binder, name->span,
               arena_printf(binder->arena, "`derive c = %s`, before, makes a column of it", name->text),
               "`%s` is known only in its own pipeline", name->text);
    return meaning(MEANS_UNKNOWN, 0);
}

struct resolved name_resolve(struct scope *scope, const struct name *name)
{
    size_t index;
    const char *argument = name_argument(name);
    if (argument)
        return resolve_argument(scope, name, argument);
    if (name_is_parameter(scope, name->text, &index))
        return meaning(MEANS_ARGUMENT, index);
    bool final = false;
    if (scope->flow) {
        struct resolved column = resolve_in_flow(scope, name->text, &final);
        if (column.meaning != MEANS_UNKNOWN)
            return column;
    }
    const struct named_aggregate *named = named_aggregate_find(scope->binder, name->text);
    if (named && scope->task && !scope->parameters)
        return resolve_named(scope, name, named);
    if (final)
        return meaning(MEANS_UNKNOWN, 0);

    if (is_subject(scope, name->text))
        return (struct resolved){.meaning = MEANS_SCALAR, .binding = &scope->subject->value};

    if (scope->flow && shape_find(&scope->shape, name->text, &index))
        return meaning(shape_is_set(&scope->shape) ? MEANS_AXIS : MEANS_UNKNOWN, index);

    const struct binding *binding = env_find(scope->binder->env, name->text);
    if (binding && binding->kind == BINDING_SCALAR)
        return resolve_scalar(scope, name, binding);
    if (known_only_when_run(binding))
        return meaning(MEANS_UNKNOWN, 0);

    /* Before abbreviations: the meaning of these words must not depend on column names. */
    int64_t position;
    const struct binding *constant = name_constant(name->text);
    if (constant)
        return (struct resolved){.meaning = MEANS_SCALAR, .binding = constant};
    if (scope->has_rows && strcmp(name->text, "row") == 0)
        return meaning(scope->shape.axes == 2 ? MEANS_AXIS : MEANS_ROW, 0);
    if (scope->shape.axes == 2 && strcmp(name->text, "col") == 0)
        return meaning(MEANS_AXIS, 1);
    if (scope->shape.axes == AXES_UNKNOWN && strcmp(name->text, "col") == 0)
        return meaning(MEANS_UNKNOWN, 0);
    if (scope->binder->rounds && strcmp(name->text, "step") == 0)
        return meaning(MEANS_STEP, 0);
    if (positional_word(name->text, &position)) {
        const bool found = name_position(scope, position, name->span, &index);
        return found ? meaning(MEANS_COLUMN, index) : meaning(MEANS_UNKNOWN, 0);
    }

    const size_t abbreviated = find_abbreviated(scope, name->text, &index);
    if (abbreviated == 1) {
        note_abbreviation(scope, name->text, scope->flow->columns[index].name);
        return meaning(MEANS_COLUMN, index);
    }
    if (name_is_struct(scope->flow, name->text)) {
        name_is_several(scope, name);
        return meaning(MEANS_UNKNOWN, 0);
    }
    if (abbreviated > 1) {
        ambiguous(scope, name);
        return meaning(MEANS_UNKNOWN, 0);
    }
    if (scope->subject && scope->binder->env->abbreviates && name_abbreviates(name->text, scope->subject->value.name)) {
        note_abbreviation(scope, name->text, scope->subject->value.name);
        return (struct resolved){.meaning = MEANS_SCALAR, .binding = &scope->subject->value};
    }
    return unknown(scope, name);
}

bool name_resolve_column(struct scope *scope, const struct expr *expr, size_t *index)
{
    struct binder *binder = scope->binder;
    int64_t position;
    if (expr->kind == EXPR_POSITION)
        return name_position(scope, expr->integer, expr->span, index);
    if (expr->kind != EXPR_NAME)
        return bind_error(binder, expr->span, "compute new columns with `map` or `derive`",
                          "this is not a column name");
    const char *name = expr->name.text;
    if (find_column(scope->flow, name, index))
        return true;
    if (scope->flow->open || name_is_unreadable(scope, &expr->name))
        return false;
    if (positional_word(name, &position))
        return name_position(scope, position, expr->span, index);
    const size_t abbreviated = find_abbreviated(scope, name, index);
    if (abbreviated == 1) {
        note_abbreviation(scope, name, scope->flow->columns[*index].name);
        return true;
    }
    if (name_is_struct(scope->flow, name)) {
        name_is_several(scope, &expr->name);
        return false;
    }
    if (abbreviated > 1) {
        ambiguous(scope, &expr->name);
        return false;
    }
    struct candidates names = candidates_new(binder->arena, scope->flow->count);
    candidates_add_columns(&names, scope->flow);
    return bind_error(binder, expr->span, name_hint_of_columns(scope), "unknown column `%s`%s", name,
                      did_you_mean(binder->arena, name, names.at, names.count));
}

void name_check_head(struct scope *scope)
{
    const struct head *head = scope->head;
    const struct flow *flow = scope->flow;
    struct arena *arena = scope->binder->arena;
    if (head->count > (flow->open ? LIMIT_COLUMNS : flow->count)) {
        bind_error(scope->binder, head->span, flow->open ? NULL : name_hint_of_columns(scope), "%s for %s",
                   text_of_count(arena, (int64_t)head->count, "name"),
                   text_of_count(arena, flow->open ? LIMIT_COLUMNS : (int64_t)flow->count, "column"));
        return;
    }
    size_t index;
    for (size_t i = 1; i < head->count; i++) {
        if (find_name(head->names, i, head->names[i].text, &index))
            bind_error_second(scope->binder, head->names[i].span, head->names[index].span, "here first", NULL,
                              "`%s` is named twice", head->names[i].text);
    }
}
