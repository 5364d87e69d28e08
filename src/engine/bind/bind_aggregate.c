/* Stages that combine values: terminals, which aggregate all rows, and scan. */
#include "engine/bind/bind_internal.h"

#include <string.h>

void bind_aggregate(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    if (stage->along.text != NULL) {
        bind_axis_reduction(binder, stage, flow);
        return;
    }
    struct task *task = task_of_stage(binder, stage, flow);
    struct aggregate what = {.kind = aggregate_of(stage->word->stage), .name = stage->word->canonical};
    struct scope scope = scope_of_stage(binder, task, flow, stage->head);
    size_t index = 0;
    bool column = stage->item_count == 0;
    if (column) {
        what.value = NO_VALUE;
        if (stage_column(binder, stage, flow))
            what.value = code_input(&task->code, 0, type_table[flow->columns[0].type].kind, stage->span);
    } else {
        what.value = bind_value(&scope, stage->items[0].expr);
        column = bind_is_column(&scope, stage->items[0].expr, what.value, &index);
    }
    flow->scalar_known = what.value != NO_VALUE;
    if (flow->scalar_known) {
        if (column)
            what.name = arena_printf(binder->arena, "%s_%s", what.name, flow->columns[index].name);
        what.value = bind_number(&scope, what.value, stage->span);
        flow->kind = what.kind == AGG_MEAN ? KIND_FLOAT : task->code.at[what.value].kind;
    }
    task_aggregate(binder, stage, task, flow, what);
}

void bind_count(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    if (stage->along.text != NULL) {
        bind_axis_reduction(binder, stage, flow);
        return;
    }
    struct task *task = task_of_stage(binder, stage, flow);
    if (stage->item_count > 0) {
        struct scope scope = scope_of_stage(binder, task, flow, stage->head);
        value keep = bind_counted(&scope, stage);
        if (keep != NO_VALUE) {
            task->filters = arena_alloc(binder->arena, sizeof *task->filters);
            task->filters[0] = (struct filter){keep, stage->items[0].expr->span};
            task->filter_count = 1;
        }
    }
    flow->kind = KIND_INT;
    flow->scalar_known = true;
    task_aggregate(binder, stage, task, flow,
                   (struct aggregate){.kind = AGG_COUNT, .value = NO_VALUE, .name = "count"});
}

/* Sets which row a scan adds to: the previous one, or the previous one of the same row or column of a shape. */
static void set_scan_axis(const struct stage *stage, const struct flow *flow, struct column_operator *column_op)
{
    if (stage->along.text == NULL)
        return;
    if (strcmp(stage->along.text, "rows") == 0)
        column_op->segment = flow->shape.cols;
    else
        column_op->stride = flow->shape.cols;
}

void bind_scan(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct aggregate what;
    bool shaped = stage->along.text == NULL || shape_check_axis(binder, stage, flow);
    if (!stage_column(binder, stage, flow) || !shaped) {
        task_unknown(binder, stage, flow);
        return;
    }
    struct operands operands;
    struct slot slot = flow->columns[0];
    operands_begin(binder, stage, flow, &operands);
    value v = code_input(&operands.task->code, 0, type_table[slot.type].kind, stage->span);
    v = bind_number(&operands.scope, v, stage->span);
    enum kind kind = operands.task->code.at[v].kind;
    size_t input;
    operands_add(&operands, v, (struct slot){.name = slot.name});
    struct task *task = operands_end(&operands, "scan", OPERATOR_SCAN, 1, &input);
    bind_combiner(binder, stage, kind, &what);
    what.value = code_input(&task->code, (int64_t)input, kind, stage->span);
    task->code.at[what.value].fallible = true;
    task->column_op->keys[0] = input;
    task->column_op->exclusive = stage->exclusive.text != NULL;
    set_scan_axis(stage, flow, task->column_op);
    task->aggregates = arena_alloc(binder->arena, sizeof *task->aggregates);
    task->aggregates[0] = what;
    task->aggregate_count = 1;
    struct slot *given = arena_alloc(binder->arena, sizeof *given);
    *given = (struct slot){slot.name, type_of_kind(kind), true};
    task_set_outputs(binder, task, flow, given, &what.value, 1);
}

void bind_reduce(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    if (stage->along.text != NULL) {
        bind_axis_reduction(binder, stage, flow);
        return;
    }
    struct task *task = task_of_stage(binder, stage, flow);
    struct scope scope = scope_of_stage(binder, task, flow, NULL);
    struct aggregate what = {.value = NO_VALUE, .name = stage->word->canonical};
    flow->scalar_known = stage_column(binder, stage, flow);
    if (flow->scalar_known) {
        value v = code_input(&task->code, 0, type_table[flow->columns[0].type].kind, stage->span);
        v = bind_number(&scope, v, stage->span);
        flow->kind = task->code.at[v].kind;
        flow->scalar_known = bind_combiner(binder, stage, flow->kind, &what);
        what.value = v;
    }
    task_aggregate(binder, stage, task, flow, what);
}
