/* The stages that make one value of a relation: count, sum, product, min, max, mean. */
#include "engine/bind/bind_internal.h"

void task_aggregate(struct binder *binder, const struct stage *stage, struct task *task, struct flow *flow,
                    struct aggregate what)
{
    what.span = stage->span;
    task->sink = SINK_AGGREGATE;
    task->aggregates = arena_alloc(binder->arena, sizeof *task->aggregates);
    task->aggregates[0] = what;
    task->aggregate_count = 1;
    flow->task = task;
    flow->scalar = true;
    flow->scalar_name = what.name;
    flow->last = stage;
}

/* Stages that take an expression can be told which column; before the others it is picked. */
static const char *how_to_choose(struct binder *binder, const struct stage *stage, const struct flow *flow)
{
    const char *word = text_of_word(binder->arena, stage), *columns = text_of_columns(binder->arena, flow);
    const char *last = name_written(flow->columns[flow->count - 1].name, binder->arena);
    enum stage_kind kind = stage->word->stage;
    if (kind == STAGE_SCAN || kind == STAGE_REDUCE || kind == STAGE_HIST)
        return arena_printf(binder->arena, "say which: `pick %s | %s`; the columns are %s", last,
                            text_of_span(binder->arena, stage->span, 40), columns);
    return arena_printf(binder->arena, "say which, `%s %s` or `pick %s | %s`; the columns are %s", word, last, last,
                        word, columns);
}

bool stage_column(struct binder *binder, const struct stage *stage, const struct flow *flow)
{
    if (flow->open)
        return false;
    if (flow->count != 1) {
        bind_error(binder, stage->span, how_to_choose(binder, stage, flow), "`%s` is of one column, but there are %zu",
                   text_of_word(binder->arena, stage), flow->count);
        return false;
    }
    return flow->columns[0].known;
}

enum aggregate_kind aggregate_of(enum stage_kind stage)
{
    switch (stage) {
    case STAGE_PRODUCT:
        return AGG_PRODUCT;
    case STAGE_MIN:
        return AGG_MIN;
    case STAGE_MAX:
        return AGG_MAX;
    case STAGE_MEAN:
        return AGG_MEAN;
    default:
        return AGG_SUM;
    }
}

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

/* What count E keeps: the rows where a condition holds or, if E is the same for all rows, those equal to it. */
value bind_counted(struct scope *scope, const struct stage *stage)
{
    struct binder *binder = scope->binder;
    const struct expr *expr = stage->items[0].expr;
    value v = bind_value(scope, expr);
    if (v == NO_VALUE || scope->code->at[v].kind == KIND_BOOL)
        return v;
    if (scope->reads_row) {
        const char *text = text_of_span(binder->arena, expr->span, 40);
        bind_error(binder, expr->span,
                   arena_printf(binder->arena, "`count %s != 0` counts the rows where it is not 0", text),
                   "`count` takes a condition or a constant, but `%s` is a number that differs from row to row", text);
        return NO_VALUE;
    }
    const struct flow *flow = scope->flow;
    if (!flow->open && flow->count != 1) {
        const char *last = name_written(flow->columns[flow->count - 1].name, binder->arena);
        bind_error(binder, stage->span,
                   arena_printf(binder->arena, "say which is compared, as in `count %s == %s`; the columns are %s",
                                last, text_of_span(binder->arena, expr->span, 40),
                                text_of_columns(binder->arena, flow)),
                   "`count` compares one column with a value, but there are %zu", flow->count);
        return NO_VALUE;
    }
    if (flow->open || !flow->columns[0].known)
        return NO_VALUE;
    value column = code_input(scope->code, 0, type_table[flow->columns[0].type].kind, expr->span);
    return bind_compare(scope, OP_EQ, column, v, expr->span);
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
