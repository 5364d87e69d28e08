/* Axis reduction: a terminal for each line along an axis of a shape, by a group or a scan. */
#include "engine/bind/bind_internal.h"
#include "engine/lower/aggregates.h"

#include <string.h>

void column_operator_along(struct column_operator *column_op, const struct lines *lines)
{
    column_op->segment = lines->outer == 1 && lines->inner > 1 ? 0 : lines->length * lines->inner;
    column_op->stride = lines->inner;
}

/* A terminal of each line along an axis. */
struct reduction {
    struct lines lines;
    struct shape left; /* of the result */
    const char *key;   /* the column of the lines' numbers, for explain, */
    const char *name;  /* and a line, for messages */
};

static int64_t lines_count(const struct reduction *reduction)
{
    return reduction->lines.outer * reduction->lines.inner;
}

/* The line that the row is in. */
static value line_of_row(struct code *code, const struct lines *lines, struct span span)
{
    const value row = code_row(code, span);
    const value within = code_with(code, OP_MOD, row, lines->inner, span);
    if (lines->outer == 1 && lines->inner > 1)
        return within;
    const value block = code_with(code, OP_DIV, row, lines->length * lines->inner, span);
    if (lines->inner == 1)
        return block;
    return code_binary(code, OP_ADD, code_with(code, OP_MUL, block, lines->inner, span), within, span);
}

/* The last row of the line that has this row's number. */
static value end_of_line(struct code *code, const struct lines *lines, struct span span)
{
    value place = code_row(code, span);
    if (lines->outer > 1 && lines->inner > 1) {
        const value within = code_with(code, OP_MOD, place, lines->inner, span);
        place = code_with(code, OP_DIV, place, lines->inner, span);
        place = code_with(code, OP_MUL, place, lines->length * lines->inner, span);
        place = code_binary(code, OP_ADD, place, within, span);
    } else if (lines->inner == 1) {
        place = code_with(code, OP_MUL, place, lines->length, span);
    }
    return code_with(code, OP_ADD, place, (lines->length - 1) * lines->inner, span);
}

/* Sets the result: one column, with a value for each line. */
static void set_axis_output(struct binder *binder, const struct reduction *reduction, struct flow *flow,
                            struct task *task, value v, struct slot slot)
{
    task_set_slot(binder, task, flow, slot, v);
    flow->rows = lines_count(reduction);
    flow->shape = reduction->left;
    flow->open = false;
}

/* Binds the terminal as a group by line. */
static void reduce_axis_by_group(struct operands *operands, const struct reduction *reduction, value v,
                                 struct aggregate what, struct slot slot, struct flow *flow)
{
    struct binder *binder = operands->binder;
    const struct stage *stage = operands->stage;
    const struct lines *lines = &reduction->lines;
    const value key = line_of_row(&operands->task->code, lines, stage->span);
    const struct aggregation of = {.binder = binder, .stage = stage, .flow = operands->flow};
    struct pass pass = {.of = &of, .operands = *operands};
    pass_add_key(&pass, operands_add(&pass.operands, key, (struct slot){.name = reduction->key, .type = TYPE_I64}));
    if (what.kind == AGG_COUNT)
        pass_add_count(&pass, NO_VALUE, what.span);
    else
        pass_add(&pass, what.kind, v, slot, what.span);
    pass.partials[0].what = what;
    pass.partials[0].slot = slot;
    pass_end(&pass);
    struct task *group = pass.flow.task;
    group->column_op->key = reduction->name;
    column_operator_along(group->column_op, lines);
    struct flow groups = pass.flow;
    groups.rows = lines_count(reduction);
    struct task *pick = task_reading(binder, "pick", stage->span, &groups);
    const value given = code_input(&pick->code, 1, type_table[slot.type].kind, stage->span);
    set_axis_output(binder, reduction, flow, pick, given, groups.columns[1]);
}

/* Binds the terminal as a scan along the axis, whose last elements are kept. */
static void reduce_axis_by_scan(struct operands *operands, const struct reduction *reduction, value v,
                                struct aggregate what, struct slot slot, struct flow *flow)
{
    struct binder *binder = operands->binder;
    const struct stage *stage = operands->stage;
    struct span span = stage->span;
    const enum kind kind = type_table[slot.type].kind;
    size_t input;
    operands_add(operands, v, (struct slot){.name = slot.name, .type = type_of_kind(operands->task->code.at[v].kind)});
    struct task *scan = operands_end(operands, "scan", OPERATOR_SCAN, 1, &input);
    scan->column_op->keys[0] = input;
    column_operator_along(scan->column_op, &reduction->lines);
    scan->aggregates = arena_alloc(binder->arena, sizeof *scan->aggregates);
    scan->aggregates[0] = what;
    scan->aggregates[0].value = code_input(&scan->code, (int64_t)input, kind, span);
    scan->aggregate_count = 1;
    scan->code.at[scan->aggregates[0].value].fallible = true;
    struct flow scanned = *flow;
    task_set_slot(binder, scan, &scanned, slot, scan->aggregates[0].value);

    struct task *last = task_new(binder, "gather", span, NULL);
    last->rows = lines_count(reduction);
    const struct input whole = {.task = scan, .type = slot.type, .name = slot.name, .whole = true};
    const size_t from = task_add_input(last, &whole, binder->arena);
    const value place = end_of_line(&last->code, &reduction->lines, span);
    const value given = code_gather(&last->code, (int64_t)from, kind, place, span);
    set_axis_output(binder, reduction, flow, last, given, slot);
}

/* Binds the terminal as a call of its aggregate function for groups: column `ids` of `rows` is the line of each. */
static void reduce_axis_by_call(struct binder *binder, const struct stage *stage, const struct reduction *reduction,
                                const struct flow *rows, size_t ids, const struct expr *call, const char *name,
                                struct flow *flow)
{
    struct flow groups;
    const size_t column = aggregate_by_ids(binder, stage, rows, ids, call, &groups);
    groups.rows = lines_count(reduction);
    struct task *pick = task_reading(binder, "pick", stage->span, &groups);
    const struct term term = term_of_column(&pick->code, &groups, column, stage->span);
    struct slot *slot = arena_copy(binder->arena, &groups.columns[column], sizeof *slot);
    slot->name = name;
    *flow = groups;
    task_set_outputs(binder, pick, flow, slot, &term, 1);
    flow->shape = reduction->left;
    flow->open = false;
}

/* The value that the operands' task computes, which may be missing or is no plain number, and the line of each row
 * become columns; the terminal is a call for these. */
static void reduce_axis_of_term(struct operands *operands, const struct reduction *reduction, struct term term,
                                const char *name, struct flow *flow)
{
    struct binder *binder = operands->binder;
    const struct stage *stage = operands->stage;
    const value line = line_of_row(&operands->task->code, &reduction->lines, stage->span);
    const struct term terms[] = {term, {.value = line, .present = NO_VALUE}};
    struct slot slots[] = {slot_of_term(&operands->scope, term),
                           {.name = reduction->key, .type = TYPE_I64, .known = true}};
    struct flow *rows = arena_copy(binder->arena, flow, sizeof *rows);
    slots[0].name = name;
    task_set_outputs(binder, operands->task, rows, slots, terms, 2);
    struct expr *call = ARENA_NEW(binder->arena, struct expr, .kind = EXPR_CALL, .span = stage->span,
                                  .name = {stage->word->canonical, stage->word_span});
    call->args = arena_alloc(binder->arena, sizeof *call->args);
    call->args[call->arg_count++] = expr_of_column(binder->arena, 0, stage->span);
    reduce_axis_by_call(binder, stage, reduction, rows, 1, call, name, flow);
}

/* A terminal that is lowered as a call anyhow, such as `median`: the line of each row becomes a hidden column. */
static void reduce_axis_of_function(struct binder *binder, const struct stage *stage, const struct reduction *reduction,
                                    struct flow *flow)
{
    const size_t count = flow->count, all = count + flow->hidden;
    const struct aggregate_function *function = aggregate_find(stage->word->canonical);
    const struct expr *call = call_of_stage(binder, stage, flow, function);
    if (!call) {
        task_unknown(binder, stage, flow);
        flow->shape = reduction->left;
        return;
    }
    const char *name = name_of_aggregate(binder, stage, flow, call);
    struct task *task = task_reading(binder, stage->word->canonical, stage->span, flow);
    struct slot *slots = arena_grow(binder->arena, flow->columns, all, all + 1, sizeof *slots);
    value *values = arena_array(binder->arena, all + 1, sizeof *values);
    for (size_t i = 0; i < all; i++)
        values[i] = slots[i].known ? code_input(&task->code, (int64_t)i, type_table[slots[i].type].kind, stage->span)
                                   : NO_VALUE;
    slots[all] = (struct slot){.name = reduction->key, .type = TYPE_I64, .known = true};
    values[all] = line_of_row(&task->code, &reduction->lines, stage->span);
    struct flow *rows = arena_copy(binder->arena, flow, sizeof *rows);
    task_set_slots(binder, task, rows, slots, values, count, flow->hidden + 1);
    reduce_axis_by_call(binder, stage, reduction, rows, all, call, name, flow);
}

/* Whether the aggregate of the term is one of a call: the term may be missing, or the aggregate is no plain number. */
static bool is_of_call(const struct code *code, const struct stage *stage, struct term term)
{
    if (!term_is_known(term) || stage->word->stage == STAGE_COUNT || stage->word->stage == STAGE_REDUCE)
        return false;
    const bool truth = code->at[term.value].kind == KIND_BOOL && aggregate_table[aggregate_of(stage)].extreme;
    return term.present != NO_VALUE || term.logical.kind != LOGICAL_NUMBER || truth;
}

/* Finds the aggregate of a terminal with `along`. Returns NO_VALUE for count, or if unknown; or with `other` set, whose
 * aggregate is a call's. */
static value bind_axis_terminal(struct operands *operands, struct aggregate *what, struct slot *slot,
                                struct term *other, bool *known)
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
    if (column && term_is_known(term))
        slot->name = arena_printf(binder->arena, "%s_%s", word, operands->flow->columns[index].name);
    if (is_of_call(code, stage, term)) {
        const enum aggregate_kind kind = aggregate_of(stage);
        *known = bind_aggregated(&operands->scope, kind, &term, expr, word, stage->span);
        *other = *known ? term : unknown_term;
        return NO_VALUE;
    }
    /* Other terms are those of `reduce`, which combines plain numbers only. */
    *known = term_is_known(term) && bind_aggregated(&operands->scope, AGG_PRODUCT, &term, expr, word, stage->span);
    if (!*known)
        return NO_VALUE;
    const value v = term_required(code, term, stage->span);
    if (stage->word->stage == STAGE_REDUCE)
        *known = bind_combiner(binder, stage, code->at[v].kind, what);
    else if (stage->word->stage != STAGE_COUNT)
        what->kind = aggregate_of(stage);
    slot->type = type_of_aggregate(what->kind, code->at[v].kind);
    return v;
}

static struct reduction reduction_along(const struct stage *stage, const struct shape *shape, size_t axis)
{
    const bool rows = strcmp(stage->along.text, "rows") == 0, cols = strcmp(stage->along.text, "cols") == 0;
    return (struct reduction){.lines = shape_lines(shape, axis),
                              .left = shape_without(shape, axis),
                              .key = rows   ? "row"
                                     : cols ? "col"
                                            : "line",
                              .name = rows   ? "row"
                                      : cols ? "column"
                                             : "line"};
}

void bind_axis_reduction(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    size_t axis;
    if (!bind_along(binder, stage, flow, &axis)) {
        task_unknown(binder, stage, flow);
        flow->shape = shape_unknown;
        return;
    }
    const struct reduction reduction = reduction_along(stage, &flow->shape, axis);
    struct operands operands;
    struct aggregate what;
    struct slot slot;
    struct term other = unknown_term;
    bool known;
    if (stage->word->stage == STAGE_AGGREGATE) {
        reduce_axis_of_function(binder, stage, &reduction, flow);
        return;
    }
    operands_begin(binder, stage, flow, &operands);
    const value v = bind_axis_terminal(&operands, &what, &slot, &other, &known);
    if (term_is_known(other)) {
        reduce_axis_of_term(&operands, &reduction, other, slot.name, flow);
    } else if (!known) {
        task_set_slots(binder, operands.task, flow, NULL, NULL, 0, 0);
        flow->shape = reduction.left;
        flow->open = true;
    } else if (aggregate_table[what.kind].along && !what.has_initial) {
        reduce_axis_by_group(&operands, &reduction, v, what, slot, flow);
    } else {
        reduce_axis_by_scan(&operands, &reduction, v, what, slot, flow);
    }
}
