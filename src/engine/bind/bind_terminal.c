/* The stages that make one value of a relation: count, sum, product, min, max, mean. */
#include "engine/bind/bind_internal.h"

void bind_aggregate(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    if (stage->along.text != NULL) {
        bind_along(binder, stage, flow);
        return;
    }
    struct task *task = task_after(binder, stage, flow);
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
        bind_along(binder, stage, flow);
        return;
    }
    struct task *task = task_after(binder, stage, flow);
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
