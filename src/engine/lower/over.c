/* AGG(E) over A..B: each row's aggregate of the rows around it, by an operator. */
#include "engine/lower/over.h"

#include "engine/expression/texts.h"
#include "engine/lower/aggregate_functions.h"
#include "engine/lower/lower.h"

#include "base/time/calendar.h"

enum { OPERAND_SHOWN = 40 };

/* A window as written. */
struct window_rows {
    const struct aggregate_function *function;
    struct moving_operator op;
    struct term term, other; /* what is aggregated; unknown: nothing */
    struct term times;       /* unknown: by rows */
    const char *name;        /* of the column of times */
    bool truth;              /* the values, and the result, are 1 or 0 for bools */
};

/* The aggregate by which the operator computes a function. */
static enum aggregate_kind kind_of(const struct aggregate_function *function)
{
    return function->kind == AGG_MEDIAN ? AGG_QUANTILE : function->kind == AGG_STDDEV ? AGG_VAR : function->kind;
}

/* The functions that take `over`. */
static const char *listed_functions(struct arena *arena)
{
    const char *listed = "of rows around each there are";
    for (size_t i = 0; i < aggregate_function_count; i++) {
        const struct aggregate_function *function = &aggregate_functions[i];
        if (function->usage && aggregate_table[function->kind].over)
            listed = arena_printf(arena, "%s `%s`", listed, function->name);
    }
    return listed;
}

static bool find_function(struct binder *binder, const struct expr *call, struct window_rows *window)
{
    const struct aggregate_function *function = aggregate_find(call->name.text);
    if (!function || !aggregate_table[function->kind].over)
        return bind_error(binder, call->name.span, listed_functions(binder->arena), "`%s` does not take `over`",
                          call->name.text);
    window->function = function;
    window->op.kind = kind_of(function);
    window->op.share = 0.5;
    return true;
}

static bool check_arguments(struct binder *binder, const struct expr *call, const struct window_rows *window)
{
    const size_t least = window->function->least, most = window->function->most;
    if (call->arg_count >= least && call->arg_count <= most)
        return true;
    const char *hint = most == 1 ? arena_printf(binder->arena, "as in `%s(x) over -2..0`", call->name.text)
                                 : arena_printf(binder->arena, "usage: %s over A..B",
                                                aggregate_find(window->function->canonical)->usage);
    return bind_error(binder, call->span, hint, "`%s` over rows takes %s, not %zu", call->name.text,
                      least == 0  ? "at most 1 argument"
                      : most == 1 ? "1 argument"
                                  : "2 arguments",
                      call->arg_count);
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
    case CLASS_LIST:
    case CLASS_MONTHS:
    case CLASS_MISSING:
        break;
    }
    return "integers, as in `over -10..0 of id`";
}

bool distance_in(enum term_class which, const struct scalar *scalar, int64_t *distance)
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
    struct scalar scalar;
    struct scope constants = scope_without_columns(binder, NULL, "the edges of a window are the same for all rows");
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

/* The argument that is aggregated. */
static size_t argument_of(const struct window_rows *window)
{
    return window->function && window->function->kind == AGG_QUANTILE ? 1 : 0;
}

static const char *name_of_argument(const struct scope *scope, const struct expr *call, size_t k)
{
    return k < call->arg_count ? text_of_span(scope->binder->arena, call->args[k]->span, OPERAND_SHOWN) : "rows";
}

static void add_values(struct scope *scope, const struct expr *call, size_t k, struct term term,
                       struct moving_columns *columns, struct window_rows *window, enum moving_key key)
{
    struct term settled = term;
    settled.value = term_settled(scope->code, term, call->span);
    struct slot slot = slot_of_term(scope, settled);
    slot.name = name_of_argument(scope, call, k);
    add_column(columns, &window->op, key, settled.value, slot);
}

/* The operator's first output. */
static struct slot slot_of_result(const struct scope *scope, const struct window_rows *window)
{
    const struct moving_operator *op = &window->op;
    struct slot slot = {.type = TYPE_F64, .known = true};
    if (op->kind == AGG_DISTINCT)
        slot.type = TYPE_I64;
    else if (op->kind != AGG_QUANTILE && op->kind != AGG_VAR && op->kind != AGG_CORR && op->kind != AGG_EWMA)
        slot = slot_of_aggregate(scope, op->kind, window->term);
    else if (op->lower)
        slot = slot_of_aggregate(scope, AGG_MIN, window->term);
    slot.name = "window";
    slot.logical = op->kind == AGG_MEAN ? (struct logical_type){0} : slot.logical;
    return slot;
}

/* Whether a window may have no result. */
static bool may_lack(const struct moving_operator *op)
{
    if (op->kind == AGG_COUNT || op->kind == AGG_SUM || op->kind == AGG_DISTINCT)
        return false;
    return op->kind == AGG_VAR || op->kind == AGG_CORR || op->has[MOVING_PRESENT] || !has_own_row(op);
}

/* The function's value of the operator's. */
static struct term value_of_result(struct scope *scope, const struct window_rows *window, struct term result,
                                   struct span span)
{
    struct code *code = scope->code;
    if (window->op.kind == AGG_MEAN || (window->op.kind == AGG_QUANTILE && !window->op.lower))
        result = term_of_mean(code, result, window->term.logical, span);
    if (window->function && window->function->kind == AGG_STDDEV)
        result.value = code_unary(code, OP_SQRT, result.value, span);
    if (window->truth)
        result.value = bind_truth(code, result.value, span);
    return result;
}

/* Adds the operator for values of the scope's task. */
static struct term add_operator(struct scope *scope, const struct expr *expr, struct window_rows *window)
{
    struct moving_operator *op = &window->op;
    struct code *code = scope->code;
    struct moving_columns columns = {.count = 0};
    const struct span span = expr->span;
    if (op->kind != AGG_COUNT)
        add_values(scope, expr->args[0], argument_of(window), window->term, &columns, window, MOVING_VALUES);
    if (term_is_known(window->other))
        add_values(scope, expr->args[0], 1, window->other, &columns, window, MOVING_OTHERS);
    const value present = present_both(code, window->term.present, window->other.present, span);
    if (present != NO_VALUE)
        add_column(&columns, op, MOVING_PRESENT, present, (struct slot){.name = "present", .type = TYPE_BOOL});
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
    const bool missing = may_lack(op);
    struct slot *results = arena_array(scope->binder->arena, 2, sizeof *results);
    const value placeholder = code_input(&task->code, 0, type_table[slots[0].type].kind, span);
    results[0] = slot_of_result(scope, window);
    results[0].validity = missing ? 1 : 0;
    results[1] = (struct slot){.name = "present", .type = TYPE_BOOL, .known = true};
    task_set_slots(scope->binder, task, &flow, results, (value[]){placeholder, placeholder}, 1, missing ? 1 : 0);
    hoist_finish(scope);

    struct term result = term_of_type(hoist_input(scope, task, 0, span), results[0].logical);
    if (missing)
        result.present = hoist_input(scope, task, 1, span);
    return value_of_result(scope, window, result, span);
}

/* Whether the windows are those of groups whose rows are anywhere: of rows that only enter. */
static bool fits_scattered(const struct moving_operator *op)
{
    return !op->has[MOVING_TIMES] && !aggregate_table[op->kind].operands && (op->from_first || op->first == 0) &&
           (op->to_last || op->last == 0) && (op->from_first || op->to_last);
}

/* Binds the arguments. False after an error, or if they are unknown. */
static bool bind_arguments_of(struct scope *scope, const struct expr *call, struct window_rows *window)
{
    const size_t at = argument_of(window);
    bool known = at == 0 || bind_share(scope->binder, call->args[0], quantile_hint, &window->op.share);
    if (at < call->arg_count) {
        window->term = bind_term(scope, call->args[at]);
        known = term_is_known(window->term) && known;
    }
    if (window->op.kind == AGG_CORR) {
        window->other = bind_term(scope, call->args[1]);
        known = term_is_known(window->other) && known;
    }
    return known;
}

/* Makes the arguments what the operator reads. False after an error. */
static bool settle_arguments(struct scope *scope, const struct expr *call, struct window_rows *window)
{
    struct code *code = scope->code;
    struct moving_operator *op = &window->op;
    const size_t at = argument_of(window);
    const char *name = call->name.text;
    if (op->kind == AGG_COUNT && call->arg_count > 0) {
        const value counted = counted_rows(scope, window->term, call->span);
        window->term = unknown_term;
        window->term.present = counted;
    }
    if (op->kind == AGG_COUNT)
        return true;
    if (!bind_aggregated(scope, op->kind, &window->term, call->args[at], name, call->span) ||
        (op->kind == AGG_CORR && !bind_aggregated(scope, op->kind, &window->other, call->args[1], name, call->span)))
        return false;
    const struct logical_type logical = window->term.logical;
    if (op->kind == AGG_CORR && code->at[window->term.value].kind != code->at[window->other.value].kind) {
        window->term = term_to_float(code, window->term, call->span);
        window->other = term_to_float(code, window->other, call->span);
    }
    op->lower = op->kind == AGG_QUANTILE && logical.kind != LOGICAL_NUMBER && !logical_table[logical.kind].adds;
    op->scale = op->kind == AGG_VAR && logical.kind == LOGICAL_DECIMAL ? logical.scale : 0;
    if (aggregate_table[op->kind].extreme) {
        window->truth = code->at[window->term.value].kind == KIND_BOOL;
        window->term.value = bind_number(code, window->term.value, call->span);
    }
    return true;
}

struct term lower_over(struct scope *scope, const struct expr *expr)
{
    struct binder *binder = scope->binder;
    const struct expr *call = expr->args[0];
    struct window_rows window = {.term = unknown_term, .other = unknown_term};
    if (binder->defining) { /* with unknown parameters */
        if (find_function(binder, call, &window) && check_arguments(binder, call, &window)) {
            for (size_t k = 0; k < call->arg_count; k++)
                bind_term(scope, call->args[k]);
        }
        return unknown_term;
    }
    if (!scope->task || !scope->has_rows)
        return term_error(binder, expr->span, scope->no_columns, "`over` needs rows, and there are none here");
    scope->reads_row = true;
    if (!find_function(binder, call, &window) || !check_arguments(binder, call, &window))
        return unknown_term;
    bool known = bind_arguments_of(scope, call, &window);
    known = bind_window(scope, expr->frame, &window) && known;
    if (!known || !settle_arguments(scope, call, &window))
        return unknown_term;
    if (scope->scattered && !fits_scattered(&window.op)) {
        binder->needs_order = true;
        return unknown_term;
    }
    struct term result = add_operator(scope, expr, &window);
    result.aggregate = true;
    return result;
}

struct term lower_window(struct scope *scope, struct moving_operator op, struct term term, struct span span)
{
    return lower_sorted_window(scope, op, term, unknown_term, NULL, span);
}

struct term lower_sorted_window(struct scope *scope, struct moving_operator op, struct term term, struct term times,
                                const char *name, struct span span)
{
    struct window_rows window = {.op = op, .term = term, .other = unknown_term, .times = times, .name = name};
    window.op.has[MOVING_TIMES] = window.op.only_sorted = term_is_known(times);
    struct expr argument = {.kind = EXPR_NAME, .span = span};
    struct expr *arguments[] = {&argument};
    struct expr call = {.kind = EXPR_CALL, .span = span, .args = arguments, .arg_count = term_is_known(term)};
    struct expr *calls[] = {&call};
    const struct expr over = {.kind = EXPR_OVER, .span = span, .args = calls, .arg_count = 1};
    return add_operator(scope, &over, &window);
}

/* The number of the group's rows in a window, less the row itself. */
static value other_rows(struct scope *scope, struct moving_operator op, struct span span)
{
    const struct term count = lower_window(scope, op, unknown_term, span);
    return code_with(scope->code, OP_SUB, count.value, 1, span);
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
    const struct moving_operator all = {.kind = AGG_FIRST, .from_first = true, .to_last = true};
    return lower_window(scope, all, term_of(v), span).value;
}
