/* Stages that combine values: terminals, which aggregate all rows, and scan. */
#include "engine/bind/bind_internal.h"
#include "engine/expression/named_aggregates.h"
#include "engine/lower/lower.h"

#include <math.h>
#include <string.h>

void bind_aggregate(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    if (stage->along.text) {
        bind_axis_reduction(binder, stage, flow);
        return;
    }
    struct task *task = task_of_stage(binder, stage, flow);
    struct aggregate what = {.kind = aggregate_of(stage), .value = NO_VALUE, .name = stage->word->canonical};
    struct scope scope = scope_of_stage(binder, task, flow, stage->head);
    const struct expr *expr = stage->item_count > 0 ? stage->items[0].expr : NULL;
    struct term term = unknown_term;
    size_t index = 0;
    if (expr)
        term = bind_term(&scope, expr);
    else if (stage_column(binder, stage, flow))
        term = term_of_column(&task->code, flow, 0, stage->span);
    const bool column = !expr || bind_is_column(&scope, expr, term, &index);
    flow->scalar_known = term_is_known(term) && bind_aggregated(&scope, what.kind, &term, expr, what.name, stage->span);
    if (flow->scalar_known) {
        if (column)
            what.name = arena_printf(binder->arena, "%s_%s", what.name, flow->columns[index].name);
        what.value = term.value;
        what.logical = term.logical;
        flow->kind = what.kind == AGG_MEAN && !logical_table[term.logical.kind].means ? KIND_FLOAT
                                                                                      : task->code.at[what.value].kind;
        flow->logical = flow->kind == KIND_FLOAT ? (struct logical_type){0} : term.logical;
        task_filter(binder, task, term.present, stage->span);
    }
    task_aggregate(binder, stage, task, flow, what);
}

const struct expr *call_of_stage(struct binder *binder, const struct stage *stage, const struct flow *flow,
                                 const struct aggregate_function *function)
{
    struct expr *call = ARENA_NEW(binder->arena, struct expr, .kind = EXPR_CALL, .span = stage->span,
                                  .name = {stage->word->canonical, stage->word_span});
    call->args = arena_array(binder->arena, stage->item_count + 1, sizeof *call->args);
    for (size_t i = 0; i < stage->item_count; i++)
        call->args[call->arg_count++] = stage->items[i].expr;
    const bool lacks_column =
        stage->item_count + 1 == function->least && (stage->item_count == 0 || function->most == 2);
    if (!lacks_column || (function->kind != AGG_QUANTILE && stage->item_count > 0))
        return call;
    if (!stage_column(binder, stage, flow))
        return NULL;
    call->args[call->arg_count++] = expr_of_column(binder->arena, 0, stage->span);
    return call;
}

/* A group of all rows is one row, whose value is the largest; where there is none, that is an error. */
void bind_aggregate_function(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    if (stage->along.text) {
        bind_axis_reduction(binder, stage, flow);
        return;
    }
    const struct aggregate_function *function = aggregate_find(stage->word->canonical);
    const struct expr *call = call_of_stage(binder, stage, flow, function);
    struct stage *group = arena_alloc(binder->arena, sizeof *group);
    struct item *item = ARENA_NEW(binder->arena, struct item, .expr = (struct expr *)call, .span = stage->span);
    *group = *stage;
    group->items = NULL;
    group->item_count = 0;
    group->aggregates = item;
    group->aggregate_count = call ? 1 : 0;
    struct groups groups;
    const char *name = call ? name_of_aggregate(binder, stage, flow, call) : function->canonical;
    groups_lower(binder, group, flow, &groups);
    struct task *task = task_reading(binder, stage->word->canonical, stage->span, &groups.flow);
    struct aggregate what = {.kind = AGG_MAX, .value = NO_VALUE, .name = name, .word = function->canonical};
    struct term term = unknown_term;
    if (call)
        term = term_of_column(&task->code, &groups.flow, groups.values.at[0].column, stage->span);
    flow->scalar_known = term_is_known(term);
    if (flow->scalar_known) {
        what.value = term.value;
        what.logical = term.logical;
        flow->kind = task->code.at[term.value].kind;
        flow->logical = term.logical;
        task_filter(binder, task, term.present, stage->span);
    }
    task_aggregate(binder, stage, task, flow, what);
}

void bind_count(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    if (stage->along.text) {
        bind_axis_reduction(binder, stage, flow);
        return;
    }
    struct task *task = task_of_stage(binder, stage, flow);
    if (stage->item_count > 0) {
        struct scope scope = scope_of_stage(binder, task, flow, stage->head);
        task_filter(binder, task, bind_counted(&scope, stage), stage->items[0].expr->span);
    }
    flow->kind = KIND_INT;
    flow->scalar_known = true;
    task_aggregate(binder, stage, task, flow,
                   (struct aggregate){.kind = AGG_COUNT, .value = NO_VALUE, .name = "count"});
}

/* Missing values add nothing: the neutral value stands for them. False, with an error, if there is none. */
static bool scanned_value(struct binder *binder, const struct stage *stage, const struct aggregate *what,
                          struct code *code, struct term *term)
{
    if (term->present == NO_VALUE)
        return true;
    if (!aggregate_table[what->kind].op) {
        term->value = term_required(code, *term, stage->span);
        return true;
    }
    if (aggregate_table[what->kind].extreme && !what->has_initial)
        return bind_error(binder, stage->span,
                          "begin with a value, as in `from 0`, or give them one first: `map x ?? 0`",
                          "along an axis, `%s` has no value before the first that is not missing",
                          text_of_word(binder->arena, stage));
    term->value = aggregate_settled(code, what->kind, *term, stage->span);
    return true;
}

/* A running minimum or maximum that is missing up to the first value, or of text: as a window. NULL: it is neither. */
static const char *scanned_extreme(const struct stage *stage, const struct slot *slot)
{
    const char *op = stage->op.text;
    const bool extreme = op && (strcmp(op, "min") == 0 || strcmp(op, "max") == 0);
    if (!extreme || !slot->known || stage->initial || stage->exclusive.text || stage->along.text)
        return NULL;
    return slot->validity != 0 || slot->logical.kind == LOGICAL_TEXT ? op : NULL;
}

/* Whether the stage combines bools by min or max, to one of them. */
static bool combines_truths(const struct stage *stage, const struct slot *slot)
{
    enum aggregate_kind kind;
    const bool from = stage->initial_count == 1 && stage->initial->expr->kind == EXPR_BOOL;
    return slot->known && slot->type == TYPE_BOOL && (!stage->initial || from) && stage->op.text &&
           combiner_operator(stage->op.text, &kind) && aggregate_table[kind].extreme;
}

/* The column of 1 and 0 as bools. */
static void bind_truths(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct task *task = task_reading(binder, "scan", stage->span, flow);
    struct slot slot = flow->columns[0];
    slot.type = TYPE_BOOL;
    const value number = term_of_column(&task->code, flow, 0, stage->span).value;
    task_set_slot(binder, task, flow, slot, bind_truth(&task->code, number, stage->span));
}

void bind_scan(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct aggregate what;
    if (combines_rows(stage, binder->arena)) {
        lower_combine(binder, stage, flow);
        return;
    }
    size_t axis = 0;
    const bool shaped = !stage->along.text || bind_along(binder, stage, flow, &axis);
    if (!stage_column(binder, stage, flow) || !shaped) {
        task_unknown(binder, stage, flow);
        return;
    }
    struct operands operands;
    struct slot slot = flow->columns[0];
    const char *extreme = scanned_extreme(stage, &slot);
    if (extreme) {
        bind_scan_as_window(binder, stage, extreme, 0, flow);
        return;
    }
    operands_begin(binder, stage, flow, &operands);
    struct term term = term_of_column(&operands.task->code, flow, 0, stage->span);
    const bool sum = stage->op.text && strcmp(stage->op.text, "+") == 0;
    if (!bind_aggregated(&operands.scope, sum ? AGG_SUM : AGG_PRODUCT, &term, NULL, "scan", stage->span)) {
        task_unknown(binder, stage, flow);
        return;
    }
    const enum kind kind = operands.task->code.at[term.value].kind;
    bool combines = bind_combiner(binder, stage, kind, &what);
    if (combines && !scanned_value(binder, stage, &what, &operands.task->code, &term))
        combines = false;
    size_t input;
    operands_add(&operands, term.value, (struct slot){.name = slot.name, .type = type_of_kind(kind)});
    struct task *task = operands_end(&operands, "scan", OPERATOR_SCAN, 1, &input);
    what.value = code_input(&task->code, (int64_t)input, kind, stage->span);
    task->code.at[what.value].fallible = true;
    task->column_op->keys[0] = input;
    task->column_op->exclusive = stage->exclusive.text;
    if (stage->along.text) {
        const struct lines lines = shape_lines(&flow->shape, axis);
        column_operator_along(task->column_op, &lines);
    }
    task->aggregates = arena_alloc(binder->arena, sizeof *task->aggregates);
    task->aggregates[0] = what;
    task->aggregate_count = 1;
    const struct slot given = {.name = slot.name, .type = type_of_kind(kind), .known = true, .logical = term.logical};
    task_set_slot(binder, task, flow, given, what.value);
    if (combines_truths(stage, &slot))
        bind_truths(binder, stage, flow);
}

void bind_reduce(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    if (combines_rows(stage, binder->arena)) {
        lower_combine(binder, stage, flow);
        return;
    }
    if (stage->along.text) {
        bind_axis_reduction(binder, stage, flow);
        return;
    }
    struct task *task = task_of_stage(binder, stage, flow);
    struct scope scope = scope_of_stage(binder, task, flow, NULL);
    struct aggregate what = {.value = NO_VALUE, .name = stage->word->canonical};
    flow->scalar_known = stage_column(binder, stage, flow);
    if (flow->scalar_known) {
        struct term term = term_of_column(&task->code, flow, 0, stage->span);
        const enum aggregate_kind kind = combines_truths(stage, &flow->columns[0]) ? AGG_MAX : AGG_PRODUCT;
        flow->scalar_known = bind_aggregated(&scope, kind, &term, NULL, what.name, stage->span);
        flow->kind = task->code.at[term.value].kind;
        flow->scalar_known = flow->scalar_known && bind_combiner(binder, stage, flow->kind, &what);
        what.value = flow->scalar_known ? term.value : NO_VALUE;
        task_filter(binder, task, term.present, stage->span);
    }
    task_aggregate(binder, stage, task, flow, what);
}

/* An error if a column has the name, or an earlier one of the stage. */
static void check_name(struct binder *binder, const struct stage *stage, const struct flow *flow, size_t i)
{
    const struct name *name = &stage->items[i].name;
    if (flow_column(flow, name->text))
        bind_error(binder, name->span, "take another name for the aggregate", "`%s` is a column already", name->text);
    for (size_t k = 0; k < i; k++) {
        if (strcmp(stage->items[k].name.text, name->text) == 0)
            bind_error_second(binder, name->span, stage->items[k].name.span, "here first", NULL, "`%s` is named twice",
                              name->text);
    }
}

void bind_with(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct arena *arena = binder->arena;
    struct named_aggregate *names = arena_array(arena, stage->item_count, sizeof *names);
    struct aggregate_values *values = NULL;
    if (binder->aggregates) {
        values = arena_alloc(arena, sizeof *values);
        *values = *binder->aggregates;
    }
    struct task *task = task_of_stage(binder, stage, flow);
    struct scope scope = scope_of_stage(binder, task, flow, NULL);
    for (size_t i = 0; i < stage->item_count; i++) {
        check_name(binder, stage, flow, i);
        names[i] = (struct named_aggregate){.name = stage->items[i].name,
                                            .expr = stage->items[i].expr,
                                            .values = values,
                                            .pipeline = binder->pipeline,
                                            .before = binder->named};
        names[i].unknown = !term_is_known(bind_named_aggregate(&scope, &names[i], names[i].name.span));
    }
    for (size_t i = 1; i < stage->item_count; i++)
        names[i].before = &names[i - 1];
    binder->named = &names[stage->item_count - 1];
    task_pass_inputs(binder, task, flow);
}
