/* Elements of columns: NAME[E], NAME.COLUMN[E], NAME[E, E] by the indices of a shape; NAME.COLUMN, of one row. */
#include "engine/expression/expression.h"
#include "engine/expression/names_unknown.h"
#include "engine/lists/lists.h"

#include "engine/env/env.h"
#include "engine/plan/loop.h"
#include "engine/storage/residency.h"

#include <string.h>

/* A column that an expression takes elements of: of a `let` relation, or of the current one. */
struct indexed {
    const char *name; /* for messages */
    struct input input, validity;
    bool nullable, known;
    struct logical_type logical;
    struct shape shape;
};

static const char *written(const struct binder *binder, const struct expr *expr)
{
    if (!expr->column.text)
        return expr->name.text;
    return arena_printf(binder->arena, "%s.%s", expr->name.text, expr->column.text);
}

static void not_a_column(struct scope *scope, const struct expr *expr)
{
    const struct binding *binding = env_find(scope->binder->env, expr->name.text);
    const bool function = !expr->definition && binding && binding->kind != BINDING_SCALAR;
    bind_error(scope->binder, expr->name.span,
               expr->column.text ? "`NAME.COLUMN` is a column of a `let` relation"
                                 : "`NAME[E]` is an element of a column, or of a `let` relation of one",
               "`%s` is a %s: it has no %s", expr->name.text, function ? "function" : "single value",
               expr->column.text ? "columns" : "elements");
}

/* Whether there is an index for each axis, or only one; nothing is reported if the shape is unknown. */
static bool fits_shape(struct scope *scope, const struct expr *expr, const struct indexed *of)
{
    struct binder *binder = scope->binder;
    if (expr->arg_count == 1 || of->shape.axes == AXES_UNKNOWN)
        return expr->arg_count == 1;
    if (!shape_is_set(&of->shape))
        bind_error(binder, expr->span, "`shape N N` lays out rows along axes, and `let` keeps that",
                   "`%s` has no shape, so an element has one position", of->name);
    else if (expr->arg_count != (size_t)of->shape.axes)
        bind_error(binder, expr->span, NULL, "`%s` has %d axes, not %zu", of->name, of->shape.axes, expr->arg_count);
    else
        return true;
    return false;
}

/* The position among the rows: an integer. Unknown after an error. */
static struct term bind_place(struct scope *scope, const struct expr *expr, const struct indexed *of)
{
    if (scope->positions)
        return bind_place(scope->positions, expr, of);
    struct code *code = scope->code;
    const char *what = arena_printf(scope->binder->arena, "`%s[...]`", of->name);
    struct term place = unknown_term;
    bool known = fits_shape(scope, expr, of);
    for (size_t i = 0; i < expr->arg_count; i++) {
        const struct span span = expr->args[i]->span;
        const struct term index = bind_term(scope, expr->args[i]);
        known = term_is_known(index) && bind_is_integer(scope, index, expr->args[i], what, NULL) && known;
        if (!known)
            continue;
        value v = term_settled(code, index, span);
        if (expr->arg_count > 1)
            v = code_with(code, OP_INDEX, v, of->shape.extents[i], span);
        if (i == 0) {
            place = index;
            place.value = v;
            continue;
        }
        const value extent = code_exact_int(code, of->shape.extents[i], span);
        place.value = code_binary(code, OP_MUL, place.value, extent, span);
        place.value = code_binary(code, OP_ADD, place.value, v, span);
        place.present = present_both(code, place.present, index.present, span);
    }
    return known ? place : unknown_term;
}

/* The element at the expression's position; the columns are added to the task's inputs. */
static struct term bind_element(struct scope *scope, const struct expr *expr, const struct indexed *of)
{
    struct arena *arena = scope->binder->arena;
    const struct term place = bind_place(scope, expr, of);
    if (!term_is_known(place) || !of->known)
        return unknown_term;
    int64_t number = (int64_t)task_add_input(scope->task, &of->input, arena);
    const enum kind kind = type_table[of->input.type].kind;
    struct term term = term_of_type(code_gather(scope->code, number, kind, place.value, expr->span), of->logical);
    if (of->nullable) {
        number = (int64_t)task_add_input(scope->task, &of->validity, arena);
        term.present = code_gather(scope->code, number, KIND_BOOL, place.value, expr->span);
    }
    if (place.present != NO_VALUE) {
        term.present = present_both(scope->code, place.present, term.present, expr->span);
        term.settled = false;
    }
    return term;
}

/* The `let` relation of this name; else NULL. */
static const struct binding *relation_named(const struct scope *scope, const char *name)
{
    const struct binding *binding = env_find(scope->binder->env, name);
    const bool found = binding && binding->kind == BINDING_RELATION && binding->relation;
    return found ? binding : NULL;
}

/* A constant position; KNOWN_NOTHING after an error. */
static enum known constant_place(struct scope *scope, const struct expr *expr, const struct indexed *of, int64_t *place)
{
    if (scope->positions)
        return constant_place(scope->positions, expr, of, place);
    enum known known = fits_shape(scope, expr, of) ? KNOWN_VALUE : KNOWN_NOTHING;
    *place = 0;
    for (size_t i = 0; i < expr->arg_count; i++) {
        int64_t index = 0, extent = expr->arg_count > 1 && known != KNOWN_NOTHING ? of->shape.extents[i] : 0;
        const enum known own = bind_constant_int(scope, expr->args[i], "a position",
                                                 "positions are integers, 0 for the first row", &index);
        if (known == KNOWN_NOTHING || own == KNOWN_NOTHING) {
            known = KNOWN_NOTHING;
        } else if (own != KNOWN_VALUE) {
            known = own;
        } else if (expr->arg_count == 1) {
            *place = index;
        } else if (index < 0 || index >= extent) {
            bind_error(scope->binder, expr->args[i]->span, "positions are counted from 0",
                       "position %lld is outside 0..%lld", (long long)index, (long long)extent - 1);
            known = KNOWN_NOTHING;
        } else {
            *place = *place * extent + index;
        }
    }
    return known;
}

/* A column of the relation, for the caller to release, or for the queue. In a check it is read only for its type. */
static enum status take_column(const struct binder *binder, const struct binding *binding, size_t k, struct span span,
                               struct column **column)
{
    *column = column_ref(binding->relation->columns[k]);
    if (binder->checking && !((*column)->provisional && binder->env->opens_files))
        return STATUS_OK;
    return read_column(binder->env, column, span, binder->diags);
}

/* Whether the number of the column's rows is known: not in a check, and not before a table on a server is read. */
static bool has_rows(const struct binding *binding, const struct column *column)
{
    return !binding->unknown && !(column->live && column->unread);
}

/* Value of column k of the relation in a row, as a constant; in a check one that only running can tell. The column is
 * that of take_column, or NULL after an error, and released. */
static struct term constant_at(struct scope *scope, const struct binding *binding, size_t k, struct column *column,
                               int64_t row, struct span span)
{
    struct binder *binder = scope->binder;
    struct term term = unknown_term;
    const bool whole = column;
    if (whole && !has_rows(binding, column)) {
        const int64_t number = (binding - binder->env->bindings) * (int64_t)LIMIT_COLUMNS + (int64_t)k;
        const value v = bind_unknown(scope, number, type_table[column->type].kind, span);
        term = term_of_type(v, (struct logical_type){.kind = column->logical.kind, .scale = column->logical.scale});
    } else if (whole && columns_fetch_rows(&column, 1, row, row + 1, span, binder->diags) == STATUS_OK) {
        struct scalar element = column_get(column, row);
        if (element.text.at) /* nobody else may keep the column of a table on a server */
            element.text.at = arena_text(binder->arena, element.text.at, element.text.length);
        term = constant_of(scope, &element, span);
    } else {
        bind_failed(binder);
    }
    column_unref(column);
    return term;
}

/* The same for a constant; NULL after an error. */
static struct column *take_constant(const struct binder *binder, const struct binding *binding, size_t k,
                                    struct span span)
{
    struct column *column;
    if (take_column(binder, binding, k, span, &column) == STATUS_OK)
        return column;
    column_unref(column);
    return NULL;
}

/* An element where no rows are read: a constant. */
static struct term constant_element(struct scope *scope, const struct expr *expr, const struct binding *binding,
                                    size_t k, const struct indexed *of)
{
    struct binder *binder = scope->binder;
    int64_t place;
    const enum known known = constant_place(scope, expr, of, &place);
    if (known == KNOWN_NOTHING)
        return unknown_term;
    struct column *column = take_constant(binder, binding, k, expr->span);
    if (!column || known == KNOWN_KIND || !has_rows(binding, column) || (place >= 0 && place < column->rows))
        return constant_at(scope, binding, k, column, place, expr->span);
    bind_error(binder, expr->args[0]->span, "positions are counted from 0", "there is no row %lld: `%s` has %s",
               (long long)place, of->name, text_of_count(binder->arena, column->rows, "row"));
    column_unref(column);
    return unknown_term;
}

/* The value of a relation's column, if that has one row: a constant. */
static struct term only_element(struct scope *scope, const struct expr *expr, const struct binding *binding, size_t k)
{
    struct binder *binder = scope->binder;
    struct column *column = take_constant(binder, binding, k, expr->span);
    if (!column || !has_rows(binding, column) || column->rows == 1)
        return constant_at(scope, binding, k, column, 0, expr->span);
    const char *name = written(binder, expr);
    bind_error(binder, expr->span,
               arena_printf(binder->arena, "`%s[E]` is the value in row E, from 0; `%s` alone has to have one row",
                            name, expr->name.text),
               "`%s` has %s", expr->name.text, text_of_count(binder->arena, column->rows, "row"));
    column_unref(column);
    return unknown_term;
}

/* Finds the column that is named after the point, or the only one. */
static bool find_column(struct scope *scope, const struct expr *expr, const struct flow *columns, size_t *k)
{
    struct binder *binder = scope->binder;
    *k = 0;
    if (!expr->column.text && columns->count == 1)
        return true;
    if (!expr->column.text)
        return bind_error(binder, expr->name.span,
                          arena_printf(binder->arena, "name a column, as in `%s.%s[E]`; the columns are %s",
                                       expr->name.text,
                                       name_written(columns->columns[columns->count - 1].name, binder->arena),
                                       text_of_columns(binder->arena, columns)),
                          "`%s` has %zu columns", expr->name.text, columns->count);
    struct scope of_relation = {.binder = binder, .flow = columns};
    const struct expr column = {.kind = EXPR_NAME, .name = expr->column, .span = expr->column.span};
    return name_resolve_column(&of_relation, &column, k);
}

static struct flow columns_of_relation(const struct relation *relation, struct arena *arena)
{
    struct flow columns = {.columns = arena_array(arena, relation->count, sizeof *columns.columns)};
    for (; columns.count < relation->count; columns.count++)
        columns.columns[columns.count] = (struct slot){.name = relation->names[columns.count],
                                                       .type = relation->columns[columns.count]->type,
                                                       .known = true,
                                                       .logical = relation->columns[columns.count]->logical};
    return columns;
}

static struct term bind_in_relation(struct scope *scope, const struct expr *expr, const struct binding *binding)
{
    struct binder *binder = scope->binder;
    const struct relation *relation = binding->relation;
    struct indexed of = {.name = written(binder, expr), .known = true, .shape = relation->shape};
    const struct flow columns = columns_of_relation(relation, binder->arena);
    size_t k;
    if (!find_column(scope, expr, &columns, &k))
        return unknown_term;
    if (expr->arg_count == 0)
        return only_element(scope, expr, binding, k);
    if (!scope->task)
        return constant_element(scope, expr, binding, k, &of);
    struct column *column;
    const enum status status = take_column(binder, binding, k, expr->span, &column);
    queue_hold(binder->queue, column);
    if (!bind_succeeded(binder, status))
        return unknown_term;
    of.input = (struct input){.column = column, .type = column->type, .name = of.name, .whole = true};
    of.validity = (struct input){.column = column->validity, .type = TYPE_BOOL, .name = "present", .whole = true};
    of.nullable = column->validity;
    of.logical = column->logical;
    return bind_element(scope, expr, &of);
}

/* The loop whose rows before the round have this name, or NULL. */
static const struct rounds *rounds_named(const struct binder *binder, const char *name)
{
    const struct rounds *rounds = binder->rounds;
    while (rounds && (!rounds->name.text || strcmp(rounds->name.text, name) != 0))
        rounds = rounds->outer;
    return rounds;
}

/* An element of the rows before a round, or their value if there is one row. */
static struct term bind_in_round(struct scope *scope, const struct expr *expr, const struct rounds *rounds)
{
    struct binder *binder = scope->binder;
    const struct flow columns = {.columns = rounds->columns, .count = rounds->count};
    const struct span span = expr->span;
    size_t k;
    if (!find_column(scope, expr, &columns, &k))
        return unknown_term;
    if (scope->combines) {
        refuse_in_combiner(scope, span, text_of_span(binder->arena, span, 40), "differs from round to round");
        return unknown_term;
    }
    if (!scope->task || (expr->arg_count == 0 && rounds->rows != 1))
        return term_error(binder, span, NULL,
                          !scope->task ? "`%s` differs from round to round, but a constant is needed here"
                                       : "`%s` has to be followed by a position, `[E]`: there may be several rows",
                          written(binder, expr));
    const struct slot *slot = &rounds->columns[k];
    struct column *const *state = rounds->loop->state;
    const struct indexed of = {
        .name = written(binder, expr),
        .input = {.column = state[k], .type = slot->type, .name = slot->name, .whole = true},
        .validity = {.column = state[slot->validity], .type = TYPE_BOOL, .name = "present", .whole = true},
        .nullable = slot->validity != 0,
        .known = slot->known,
        .logical = slot->logical,
        .shape = rounds->shape,
    };
    struct expr first = {.kind = EXPR_INT, .span = span}, *position = &first, only = *expr;
    only.args = &position;
    only.arg_count = 1;
    return bind_element(scope, expr->arg_count == 0 ? &only : expr, &of);
}

/* An element of a column of the flow. */
static struct term bind_in_flow(struct scope *scope, const struct expr *expr, size_t index)
{
    const struct flow *flow = scope->flow;
    const struct slot *slot = &flow->columns[index];
    const struct indexed of = {
        .name = slot->name,
        .input = {.task = flow->task, .output = index, .type = slot->type, .name = slot->name, .whole = true},
        .validity = {.task = flow->task, .output = slot->validity, .type = TYPE_BOOL, .name = "present", .whole = true},
        .nullable = slot->validity != 0,
        .known = slot->known,
        .logical = slot->logical,
        .shape = flow->shape,
    };
    return bind_element(scope, expr, &of);
}

static void bind_positions(struct scope *scope, const struct expr *expr)
{
    if (scope->positions)
        scope = scope->positions;
    for (size_t i = 0; i < expr->arg_count; i++)
        bind_term(scope, expr->args[i]);
}

/* A column of one of the two rows that a function combines. */
static struct term bind_in_pair(struct scope *scope, const struct expr *expr, bool right)
{
    struct binder *binder = scope->binder;
    const struct row_pair *pair = scope->pair;
    if (expr->arg_count > 0)
        return term_error(binder, expr->span, NULL, "`%s` is a value: it has no elements", written(binder, expr));
    const size_t k = flow_place(pair->rows, expr->column.text);
    if (k == pair->rows->count) {
        struct scope of_rows = {.binder = binder, .flow = pair->from};
        const struct expr column = {.kind = EXPR_NAME, .name = expr->column, .span = expr->column.span};
        size_t unread;
        if (name_resolve_column(&of_rows, &column, &unread))
            bind_error(binder, expr->span,
                       arena_printf(binder->arena, "the function gives the rows that it is given: add `... as %s`",
                                    name_written(pair->from->columns[unread].name, binder->arena)),
                       "the result has no column `%s`, so `%s` cannot read it there", pair->from->columns[unread].name,
                       written(binder, expr));
        return unknown_term;
    }
    struct term term = term_of_column(scope->code, pair->rows, k, expr->span);
    if (right && term_is_known(term)) {
        const struct instr instr = scope->code->at[term.value];
        term.value = code_input(scope->code, instr.integer + (int64_t)pair->right, instr.kind, expr->span);
        if (term.present != NO_VALUE)
            term.present = code_input(scope->code, scope->code->at[term.present].integer + (int64_t)pair->right,
                                      KIND_BOOL, expr->span);
    }
    return term;
}

/* NAME.COLUMN and NAME.COLUMN[E]: the name is a relation whatever the columns are. */
static struct term bind_of_relation(struct scope *scope, const struct expr *expr)
{
    const struct rounds *rounds = rounds_named(scope->binder, expr->name.text);
    if (rounds)
        return bind_in_round(scope, expr, rounds);
    const struct binding *relation = relation_named(scope, expr->name.text);
    const struct binding *binding = env_find(scope->binder->env, expr->name.text);
    if (relation)
        return bind_in_relation(scope, expr, relation);
    if (!binding && !(scope->flow && scope->flow->open)) /* else it may be a column of lists */
        name_unknown_relation(scope->binder, &expr->name);
    else if (binding && binding->kind != BINDING_RELATION)
        not_a_column(scope, expr);
    else
        bind_positions(scope, expr);
    return unknown_term;
}

/* An element of what parameter `k` is given: of a relation or column of the caller, at the function's own positions. */
static struct term bind_of_argument(struct scope *scope, const struct expr *expr, size_t k)
{
    if (!scope->caller || k >= scope->call->arg_count) {
        bind_positions(scope, expr);
        return unknown_term;
    }
    const struct expr *argument = scope->call->args[k];
    if (argument->kind != EXPR_NAME || argument->definition) {
        bind_error_second(scope->binder, argument->span, expr->span, "an element is taken here",
                          "give it a name before, with `let` or `derive`",
                          "`%s` needs the name of a relation or column", expr->name.text);
        return unknown_term;
    }
    struct scope caller = *scope->caller;
    struct expr element = *expr;
    element.name = argument->name;
    caller.positions = scope->positions ? scope->positions : scope;
    const struct term term = bind_index(&caller, &element);
    scope->reads_row = scope->reads_row || caller.reads_row;
    return term;
}

/* Whether columns are named so: `t` is no column, but one is named `t.x`. */
static bool names_path(const struct scope *scope, const struct expr *expr)
{
    return expr->column.text && name_is_taken(scope, written(scope->binder, expr));
}

bool name_is_of_columns(const struct scope *scope, const struct expr *element)
{
    const struct env *env = scope->binder->env;
    const char *name = element->name.text;
    size_t parameter;
    if (names_path(scope, element) || env_find(env, written(scope->binder, element)))
        return true;
    for (size_t side = 0; scope->pair && side < 2; side++) {
        if (strcmp(scope->pair->names[side].text, name) == 0)
            return false;
    }
    if (env_find(env, name) || rounds_named(scope->binder, name) || name_is_parameter(scope, name, &parameter))
        return false;
    bool paths = scope->flow && scope->flow->open;
    for (size_t k = 0; scope->flow && k < scope->flow->count && !paths; k++)
        paths = strchr(scope->flow->columns[k].name, '.');
    return paths;
}

struct term bind_index(struct scope *scope, const struct expr *expr)
{
    size_t parameter;
    struct named_list list;
    if (list_is_whole(scope, expr, &list)) {
        list_bind(scope, &list);
        return list_value(scope, &list);
    }
    if (list_find(scope, expr, &list))
        return bind_list_index(scope, expr, &list);
    struct expr whole = *expr;
    if (names_path(scope, expr)) {
        whole.name = (struct name){written(scope->binder, expr), span_join(expr->name.span, expr->column.span)};
        whole.column = (struct name){0};
        expr = &whole;
    }
    if (expr->member.text) {
        bind_positions(scope, expr);
        return list_refuse_part(scope, expr);
    }
    if (!expr->definition && name_is_parameter(scope, expr->name.text, &parameter))
        return bind_of_argument(scope, expr, parameter);
    if (expr->definition) {
        not_a_column(scope, expr);
        return unknown_term;
    }
    for (size_t side = 0; scope->pair && expr->column.text && side < 2; side++) {
        if (strcmp(scope->pair->names[side].text, expr->name.text) == 0)
            return bind_in_pair(scope, expr, side == 1);
    }
    if (expr->column.text)
        return bind_of_relation(scope, expr);
    const bool taken = name_is_taken(scope, expr->name.text);
    const struct rounds *rounds = taken ? NULL : rounds_named(scope->binder, expr->name.text);
    const struct binding *binding = taken ? NULL : relation_named(scope, expr->name.text);
    if (rounds)
        return bind_in_round(scope, expr, rounds);
    if (binding)
        return bind_in_relation(scope, expr, binding);
    struct resolved resolved = name_resolve(scope, &expr->name);
    if (resolved.meaning == MEANS_COLUMN && scope->group != 0)
        return term_error(scope->binder, expr->span, "`at(NAME, K)` is the value K rows further on in the group",
                          "`NAME[E]` has no meaning within `per`");
    if (resolved.meaning == MEANS_COLUMN && scope->task && scope->flow->task)
        return bind_in_flow(scope, expr, resolved.index);
    if (resolved.meaning != MEANS_UNKNOWN)
        not_a_column(scope, expr);
    else
        bind_positions(scope, expr);
    return unknown_term;
}
