/* AGG(E) over A..B: each row's aggregate of the rows around it, by an operator. */
#include "engine/lower/over.h"

#include "engine/expression/texts.h"
#include "engine/lower/aggregate_functions.h"
#include "engine/lower/lower.h"

#include "base/calendar.h"

enum { OPERAND_SHOWN = 40 };

/* A window as written. */
struct window_rows {
    struct moving_operator op;
    struct term times; /* unknown: by rows */
    const char *name;  /* of the column of times */
    bool truth;        /* the values, and the result, are 1 or 0 for bools */
};

static bool find_kind(struct binder *binder, const struct expr *call, enum aggregate_kind *kind)
{
    const struct aggregate_function *function = aggregate_find(call->name.text);
    if (function && aggregate_table[function->kind].over) {
        *kind = function->kind;
        return true;
    }
    return bind_error(binder, call->name.span, "sum(E) count() mean(E) min(E) max(E) first(E) last(E) do",
                      "`%s` does not take `over`", call->name.text);
}

static bool check_arguments(struct binder *binder, const struct expr *call, enum aggregate_kind kind)
{
    if (call->arg_count == 1 || (call->arg_count == 0 && kind == AGG_COUNT))
        return true;
    return bind_error(binder, call->span, arena_printf(binder->arena, "as in `%s(x) over -2..0`", call->name.text),
                      "`%s` over rows takes %s, not %zu", call->name.text,
                      kind == AGG_COUNT ? "at most 1 argument" : "1 argument", call->arg_count);
}

/* What the edges of a window by time are distances of. */
static const char *distances_of(enum term_class which)
{
    switch (which) {
    case CLASS_DATE:
        return "days, as in `over -7..0 of day` or `over -1w..0 of day`";
    case CLASS_TIMESTAMP:
    case CLASS_DURATION:
        return "durations, as in `over -5min..0 of time`";
    case CLASS_BOOL:
    case CLASS_INT:
    case CLASS_FLOAT:
    case CLASS_TEXT:
    case CLASS_DECIMAL:
    case CLASS_MONTHS:
    case CLASS_MISSING:
        break;
    }
    return "integers, as in `over -10..0 of id`";
}

/* Whether the constant is a distance in a column of this class, in the column's unit. */
static bool distance_in(enum term_class which, const struct scalar *scalar, int64_t *distance)
{
    bool duration = scalar->logical.kind == LOGICAL_DURATION, number = scalar->logical.kind == LOGICAL_NUMBER;
    *distance = (int64_t)scalar->integer;
    if (scalar->kind != KIND_INT || scalar->missing || !scalar_fits(scalar))
        return false;
    if (which == CLASS_TIMESTAMP || which == CLASS_DURATION)
        return duration || (number && *distance == 0);
    if (which == CLASS_DATE && duration && *distance % DAY_US == 0) {
        *distance /= DAY_US;
        return true;
    }
    return number;
}

/* Binds one edge. False after an error or if unknown. */
static bool bind_edge(struct scope *scope, const struct expr *edge, const struct window_rows *window, int64_t *distance)
{
    struct binder *binder = scope->binder;
    struct code code;
    struct scalar scalar;
    code_init(&code, binder->arena);
    struct scope constants = scope_without_columns(binder, &code, "the edges of a window are the same for all rows");
    if (edge->kind == EXPR_MONTHS || (edge->kind == EXPR_UNARY && edge->args[0]->kind == EXPR_MONTHS))
        return bind_error(binder, edge->span, "use days, as in `over -30d..0 of time`",
                          "months differ in length, so a window has none");
    const enum known known = bind_constant(&constants, edge, &scalar);
    if (known != KNOWN_VALUE)
        return false;
    const bool timed = term_is_known(window->times);
    const enum term_class which = timed ? class_of(scope->code, window->times) : CLASS_INT;
    if (distance_in(which, &scalar, distance))
        return true;
    if (timed)
        return bind_error(binder, edge->span,
                          arena_printf(binder->arena, "distances in `%s` are %s", window->name, distances_of(which)),
                          "`%s` is no distance in `%s`", text_of_span(binder->arena, edge->span, OPERAND_SHOWN),
                          window->name);
    if (scalar.logical.kind == LOGICAL_DURATION)
        return bind_error(binder, edge->span, "a window by time names its sorted column: `over -5min..0 of time`",
                          "a window without `of` counts rows");
    return bind_error(binder, edge->span, "as in `over -19..0`, of 20 rows", "the edge of a window must be an integer");
}

/* The column after `of`. False after an error or if unknown. */
static bool bind_times(struct scope *scope, const struct name *name, struct window_rows *window)
{
    struct binder *binder = scope->binder;
    struct resolved resolved = name_resolve(scope, name);
    if (resolved.meaning == MEANS_UNKNOWN)
        return false;
    if (resolved.meaning != MEANS_COLUMN)
        return bind_error(binder, name->span, "`of` is followed by the sorted column that the distances are in",
                          "`%s` is not a column", name->text);
    window->name = scope->flow->columns[resolved.index].name;
    window->times = term_of_column(scope->code, scope->flow, resolved.index, name->span);
    if (!term_is_known(window->times))
        return false;
    const enum term_class which = class_of(scope->code, window->times);
    if (which != CLASS_INT && which != CLASS_DATE && which != CLASS_TIMESTAMP && which != CLASS_DURATION)
        return bind_error(binder, name->span, "of integers, dates, timestamps and durations there are windows",
                          "there are no distances in `%s`, which is %s", window->name, class_noun(which));
    window->times.value = term_required(scope->code, window->times, name->span);
    return true;
}

static bool bind_window(struct scope *scope, const struct window_frame *frame, struct window_rows *window)
{
    struct moving_operator *op = &window->op;
    window->times = unknown_term;
    if (frame->of.text && !bind_times(scope, &frame->of, window))
        return false;
    op->from_first = !frame->first;
    op->to_last = !frame->last;
    op->has[MOVING_TIMES] = frame->of.text && !(op->from_first && op->to_last);
    bool known = op->from_first || bind_edge(scope, frame->first, window, &op->first);
    known = (op->to_last || bind_edge(scope, frame->last, window, &op->last)) && known;
    if (!known || op->from_first || op->to_last || op->first <= op->last)
        return known;
    return bind_error(scope->binder, frame->span,
                      "write the smaller distance first; a sign after `..` belongs to the edge",
                      "the range of the window is empty");
}

/* The operands of the operator, as columns of a task. */
struct moving_columns {
    struct slot slots[MOVING_KEYS];
    value values[MOVING_KEYS];
    size_t count;
};

static void add_column(struct moving_columns *columns, struct moving_operator *op, enum moving_key key, value v,
                       struct slot slot)
{
    slot.known = true;
    slot.validity = 0;
    columns->slots[columns->count] = slot;
    columns->values[columns->count++] = v;
    op->has[key] = true;
}

/* Whether the window of every row has a row. */
static bool has_own_row(const struct moving_operator *op)
{
    return (op->from_first || op->first <= 0) && (op->to_last || op->last >= 0);
}

static const char *name_of_argument(const struct scope *scope, const struct expr *call)
{
    return call->arg_count > 0 ? text_of_span(scope->binder->arena, call->args[0]->span, OPERAND_SHOWN) : "rows";
}

/* Adds the operator for values of the scope's task. */
static struct term add_operator(struct scope *scope, const struct expr *expr, const struct term *term,
                                struct window_rows *window)
{
    struct moving_operator *op = &window->op;
    struct code *code = scope->code;
    struct moving_columns columns = {.count = 0};
    const struct span span = expr->span;
    if (op->kind != AGG_COUNT) {
        struct term settled = *term;
        settled.value = term_settled(code, *term, span);
        struct slot slot = slot_of_term(scope, settled);
        slot.name = name_of_argument(scope, expr->args[0]);
        add_column(&columns, op, MOVING_VALUES, settled.value, slot);
    }
    if (term->present != NO_VALUE)
        add_column(&columns, op, MOVING_PRESENT, term->present, (struct slot){.name = "present", .type = TYPE_BOOL});
    if (scope->group != 0) {
        const value group = code_input(code, (int64_t)scope->group, KIND_INT, span);
        op->scattered = scope->scattered;
        add_column(&columns, op, MOVING_GROUPS, group, (struct slot){.name = "group", .type = TYPE_I64});
    }
    if (op->has[MOVING_TIMES]) {
        struct slot slot = slot_of_term(scope, window->times);
        slot.name = window->name;
        add_column(&columns, op, MOVING_TIMES, window->times.value, slot);
    }
    if (op->has[MOVING_TIMES] && scope->place != 0) {
        const value place = code_input(code, (int64_t)scope->place, KIND_INT, span);
        add_column(&columns, op, MOVING_PLACES, place, (struct slot){.name = "place", .type = TYPE_I64});
    }
    if (columns.count == 0) /* the operator has to read something to have rows */
        columns = (struct moving_columns){.slots = {{.name = "rows", .type = TYPE_BOOL, .known = true}},
                                          .values = {code_bool(code, true, span)},
                                          .count = 1};

    struct flow flow;
    struct slot *slots = arena_grow(scope->binder->arena, columns.slots, columns.count, columns.count, sizeof *slots);
    hoist_values(scope, span, slots, columns.values, columns.count, &flow);
    struct task *task = operator_new(scope->binder, "over", span, &flow, OPERATOR_MOVING, columns.count);
    for (size_t k = 0; k < columns.count; k++)
        task->column_op->keys[k] = k;
    task->column_op->moving = *op;
    const bool missing = op->kind != AGG_COUNT && op->kind != AGG_SUM && (op->has[MOVING_PRESENT] || !has_own_row(op));
    struct slot *results = arena_array(scope->binder->arena, 2, sizeof *results);
    const value placeholder = code_input(&task->code, 0, type_table[slots[0].type].kind, span);
    results[0] = slot_of_aggregate(scope, op->kind, *term);
    results[0].name = "window";
    results[0].logical = op->kind == AGG_MEAN ? (struct logical_type){0} : results[0].logical;
    results[0].validity = missing ? 1 : 0;
    results[1] = (struct slot){.name = "present", .type = TYPE_BOOL, .known = true};
    task_set_slots(scope->binder, task, &flow, results, (value[]){placeholder, placeholder}, 1, missing ? 1 : 0);
    hoist_finish(scope);

    struct term result = term_of_type(hoist_input(scope, task, 0, span), results[0].logical);
    if (missing)
        result.present = hoist_input(scope, task, 1, span);
    if (op->kind == AGG_MEAN)
        result = term_of_mean(code, result, term->logical, span);
    if (window->truth)
        result.value = bind_truth(code, result.value, span);
    return result;
}

/* Whether the windows are those of groups whose rows are anywhere: of rows that only enter. */
static bool fits_scattered(const struct moving_operator *op)
{
    return !op->has[MOVING_TIMES] && (op->from_first || op->first == 0) && (op->to_last || op->last == 0) &&
           (op->from_first || op->to_last);
}

struct term lower_over(struct scope *scope, const struct expr *expr)
{
    struct binder *binder = scope->binder;
    const struct expr *call = expr->args[0];
    struct window_rows window = {0};
    struct term term = unknown_term;
    if (binder->defining) { /* with unknown parameters */
        if (find_kind(binder, call, &window.op.kind) && check_arguments(binder, call, window.op.kind) &&
            call->arg_count > 0)
            bind_term(scope, call->args[0]);
        return unknown_term;
    }
    if (!scope->task || !scope->has_rows)
        return term_error(binder, expr->span, scope->no_columns, "`over` needs rows, and there are none here");
    scope->reads_row = true;
    if (!find_kind(binder, call, &window.op.kind) || !check_arguments(binder, call, window.op.kind))
        return unknown_term;
    if (call->arg_count > 0)
        term = bind_term(scope, call->args[0]);
    bool known = call->arg_count == 0 || term_is_known(term);
    known = bind_window(scope, expr->frame, &window) && known;
    if (!known)
        return unknown_term;
    if (window.op.kind == AGG_COUNT && call->arg_count > 0) {
        const value counted = counted_rows(scope, term, call->span);
        term = unknown_term;
        term.present = counted;
    }
    if (window.op.kind != AGG_COUNT &&
        !bind_aggregated(scope, window.op.kind, &term, call->args[0], call->name.text, call->span))
        return unknown_term;
    if (term_is_known(term) && aggregate_table[window.op.kind].extreme) {
        window.truth = scope->code->at[term.value].kind == KIND_BOOL;
        term.value = bind_number(scope->code, term.value, call->span);
    }
    if (scope->scattered && !fits_scattered(&window.op)) {
        binder->needs_order = true;
        return unknown_term;
    }
    struct term result = add_operator(scope, expr, &term, &window);
    result.aggregate = true;
    return result;
}

/* The number of the group's rows in a window, less the row itself. */
static value other_rows(struct scope *scope, struct moving_operator op, struct span span)
{
    struct window_rows window = {.op = op, .times = unknown_term};
    struct expr call = {.kind = EXPR_CALL, .span = span};
    struct expr *calls[] = {&call};
    const struct expr row = {.kind = EXPR_OVER, .span = span, .args = calls, .arg_count = 1};
    struct term count = add_operator(scope, &row, &unknown_term, &window);
    return code_op(scope->code, OP_SUB, count.value, code_exact_int(scope->code, 1, span), NO_VALUE, span);
}

value lower_row_of_group(struct scope *scope, struct span span)
{
    return other_rows(scope, (struct moving_operator){.kind = AGG_COUNT, .from_first = true}, span);
}

value lower_rows_after(struct scope *scope, struct span span)
{
    return other_rows(scope, (struct moving_operator){.kind = AGG_COUNT, .to_last = true}, span);
}

value lower_first_of_group(struct scope *scope, value v, struct span span)
{
    struct window_rows window = {.op = {.kind = AGG_FIRST, .from_first = true, .to_last = true}, .times = unknown_term};
    struct expr argument = {.kind = EXPR_NAME, .span = span};
    struct expr *arguments[] = {&argument};
    struct expr call = {.kind = EXPR_CALL, .span = span, .args = arguments, .arg_count = 1};
    struct expr *calls[] = {&call};
    const struct expr over = {.kind = EXPR_OVER, .span = span, .args = calls, .arg_count = 1};
    const struct term term = term_of(v);
    return add_operator(scope, &over, &term, &window).value;
}
