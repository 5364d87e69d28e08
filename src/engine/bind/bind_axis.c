/* Axis reduction: a terminal for each row or column of a shape, by a group or a scan. */
#include "engine/bind/bind_internal.h"

#include <string.h>

/* Sets the result: one column, with a value for each row or column of the shape. */
static void set_axis_output(struct binder *binder, const struct stage *stage, struct flow *flow, struct task *task,
                            value v, struct slot slot)
{
    const struct shape shape = flow->shape;
    struct slot *slots = arena_alloc(binder->arena, sizeof *slots);
    *slots = slot;
    task_set_slots(binder, task, flow, slots, &v, 1, 0);
    flow->rows = strcmp(stage->along.text, "rows") == 0 ? shape.rows : shape.cols;
    flow->open = false;
}

/* Binds the terminal as a group by row or column. */
static void reduce_axis_by_group(struct operands *operands, value v, struct aggregate what, struct slot slot,
                                 struct flow *flow)
{
    struct binder *binder = operands->binder;
    const struct stage *stage = operands->stage;
    struct code *code = &operands->task->code;
    bool rows = strcmp(stage->along.text, "rows") == 0;
    value key = rows ? shape_row(code, flow->shape, stage->span) : shape_col(code, flow->shape, stage->span);
    const struct aggregation of = {.binder = binder, .stage = stage, .flow = operands->flow};
    struct pass pass = {.of = &of, .operands = *operands};
    pass_add_key(&pass,
                 operands_add(&pass.operands, key, (struct slot){.name = rows ? "row" : "col", .type = TYPE_I64}));
    if (what.kind == AGG_COUNT)
        pass_add_count(&pass, NO_VALUE, what.span);
    else
        pass_add(&pass, what.kind, v, slot, what.span);
    pass.parts[0].what = what;
    pass.parts[0].slot = slot;
    pass_end(&pass);
    struct task *group = pass.flow.task;
    group->column_op->key = rows ? "row" : "column";
    group->column_op->segment = rows ? flow->shape.cols : 0;
    group->column_op->stride = rows ? 1 : flow->shape.cols;
    struct flow groups = pass.flow;
    groups.rows = rows ? flow->shape.rows : flow->shape.cols;
    struct task *pick = task_reading(binder, "pick", stage->span, &groups);
    value given = code_input(&pick->code, 1, type_table[slot.type].kind, stage->span);
    set_axis_output(binder, stage, flow, pick, given, groups.columns[1]);
}

/* Binds the terminal as a scan along each row or column, whose last element is kept. */
static void reduce_axis_by_scan(struct operands *operands, value v, struct aggregate what, struct slot slot,
                                struct flow *flow)
{
    struct binder *binder = operands->binder;
    const struct stage *stage = operands->stage;
    const struct shape shape = flow->shape;
    struct span span = stage->span;
    bool rows = strcmp(stage->along.text, "rows") == 0;
    enum kind kind = type_table[slot.type].kind;
    size_t input;
    operands_add(operands, v, (struct slot){.name = slot.name, .type = type_of_kind(operands->task->code.at[v].kind)});
    struct task *scan = operands_end(operands, "scan", OPERATOR_SCAN, 1, &input);
    scan->column_op->keys[0] = input;
    scan->column_op->segment = rows ? shape.cols : 0;
    scan->column_op->stride = rows ? 1 : shape.cols;
    scan->aggregates = arena_alloc(binder->arena, sizeof *scan->aggregates);
    scan->aggregates[0] = what;
    scan->aggregates[0].value = code_input(&scan->code, (int64_t)input, kind, span);
    scan->aggregate_count = 1;
    scan->code.at[scan->aggregates[0].value].fallible = true;
    struct flow scanned = *flow;
    struct slot *slots = arena_alloc(binder->arena, sizeof *slots);
    *slots = slot;
    task_set_slots(binder, scan, &scanned, slots, &scan->aggregates[0].value, 1, 0);

    struct task *last = task_new(binder, "gather", span, NULL);
    last->rows = rows ? shape.rows : shape.cols;
    const struct input whole = {.task = scan, .type = slot.type, .name = slot.name, .whole = true};
    size_t from = task_add_input(last, &whole, binder->arena);
    struct code *code = &last->code;
    value place = code_row(code, span);
    if (rows)
        place = code_op(code, OP_MUL, place, code_exact_int(code, shape.cols, span), NO_VALUE, span);
    int64_t first = rows ? shape.cols - 1 : (shape.rows - 1) * shape.cols;
    place = code_op(code, OP_ADD, place, code_exact_int(code, first, span), NO_VALUE, span);
    value given = code_gather(code, (int64_t)from, kind, place, span);
    set_axis_output(binder, stage, flow, last, given, slot);
}

/* Finds the aggregate of a terminal with `along`. Returns NO_VALUE for count, or if unknown. */
static value bind_axis_terminal(struct operands *operands, struct aggregate *what, struct slot *slot, bool *known)
{
    struct binder *binder = operands->binder;
    const struct stage *stage = operands->stage;
    struct code *code = &operands->task->code;
    const char *word = stage->word->canonical;
    size_t index = 0;
    bool column = stage->item_count == 0 || stage->word->stage == STAGE_REDUCE;
    *slot = (struct slot){.name = word, .type = TYPE_I64, .known = true};
    *what = (struct aggregate){.kind = AGG_COUNT, .value = NO_VALUE, .name = word, .span = stage->span};
    *known = true;
    struct term term = unknown_term;
    const struct expr *expr = NULL;
    if (stage->word->stage == STAGE_COUNT) {
        if (stage->item_count == 0)
            return NO_VALUE;
        what->kind = AGG_SUM;
        term = term_of(bind_counted(&operands->scope, stage));
        column = false;
    } else if (!column) {
        expr = stage->items[0].expr;
        term = bind_term(&operands->scope, expr);
        column = bind_is_column(&operands->scope, expr, term, &index);
    } else if (stage_column(binder, stage, operands->flow)) {
        term = term_of_column(code, operands->flow, 0, stage->span);
    }
    if (term.present != NO_VALUE)
        bind_error(binder, stage->span, "give them a value first, as in `map x ?? 0`",
                   "`%s along %s` needs values, but some are missing", word, stage->along.text);
    /* Plain numbers only: a shape is of a grid of measurements. */
    *known = term_is_known(term) && term.present == NO_VALUE &&
             bind_aggregated(&operands->scope, AGG_PRODUCT, &term, expr, word, stage->span);
    if (!*known)
        return NO_VALUE;
    value v = term.value;
    if (column)
        slot->name = arena_printf(binder->arena, "%s_%s", word, operands->flow->columns[index].name);
    if (stage->word->stage == STAGE_REDUCE)
        *known = bind_combiner(binder, stage, code->at[v].kind, what);
    else if (stage->word->stage != STAGE_COUNT)
        what->kind = aggregate_of(stage->word->stage);
    slot->type = type_of_aggregate(what->kind, code->at[v].kind);
    return v;
}

static bool group_computes(const struct aggregate *what)
{
    switch (what->kind) {
    case AGG_COUNT:
    case AGG_SUM:
    case AGG_MIN:
    case AGG_MAX:
    case AGG_MEAN:
        return !what->has_initial;
    default:
        return false;
    }
}

void bind_axis_reduction(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    if (!shape_check_axis(binder, stage, flow)) {
        task_unknown(binder, stage, flow);
        return;
    }
    struct operands operands;
    struct aggregate what;
    struct slot slot;
    bool known;
    operands_begin(binder, stage, flow, &operands);
    value v = bind_axis_terminal(&operands, &what, &slot, &known);
    if (!known) {
        task_set_slots(binder, operands.task, flow, NULL, NULL, 0, 0);
        flow->open = true;
    } else if (group_computes(&what)) {
        reduce_axis_by_group(&operands, v, what, slot, flow);
    } else {
        reduce_axis_by_scan(&operands, v, what, slot, flow);
    }
}
