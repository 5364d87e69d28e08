/* group: one row per key; and axis reduction, which is a group, or a scan, by row or column of a shape. */
#include "engine/bind/bind_internal.h"

#include <string.h>

/* An aggregate of a group while it is bound. */
struct group_aggregate {
    struct aggregate what;
    size_t operand; /* its values, if has_values; not of count() */
    bool has_values;
    struct slot slot;
};

static const char usage_of_aggregates[] = "the aggregates of a group are sum(E) count() min(E) max(E) mean(E)";

bool stage_is_of_groups(enum stage_kind stage)
{
    return stage == STAGE_COUNT || stage == STAGE_SUM || stage == STAGE_MIN || stage == STAGE_MAX ||
           stage == STAGE_MEAN;
}

/* Reports `count` written without parentheses, or something that is not an aggregate. */
static void refuse_aggregate(struct binder *binder, const struct expr *expr, const struct word *word)
{
    if (word == NULL || !stage_is_of_groups(word->stage))
        bind_error(binder, expr->span, usage_of_aggregates, "`%s` is not an aggregate",
                   text_of_span(binder->arena, expr->span, 40));
    else
        bind_error(
            binder, expr->span,
            arena_printf(binder->arena, "as in `group K: %s(%s)`", word->text, word->stage == STAGE_COUNT ? "" : "E"),
            "in a group, `%s` is written as a function call", word->text);
}

/* Finds which aggregate a call is; false after an error. */
static bool is_aggregate(struct binder *binder, const struct item *item, enum aggregate_kind *kind)
{
    const struct expr *expr = item->expr;
    const struct word *word = NULL;
    if (expr->kind == EXPR_CALL || expr->kind == EXPR_NAME)
        word = word_find(expr->name.text, strlen(expr->name.text));
    if (expr->kind != EXPR_CALL || word == NULL || !stage_is_of_groups(word->stage)) {
        refuse_aggregate(binder, expr, word);
        return false;
    }
    *kind = word->stage == STAGE_COUNT ? AGG_COUNT : aggregate_of(word->stage);
    if (*kind == AGG_COUNT || expr->arg_count == 1)
        return true;
    bind_error(binder, expr->span, usage_of_aggregates, "in a group, `%s` takes 1 argument, not %zu", expr->name.text,
               expr->arg_count);
    return false;
}

/* count() counts all rows; count(CONDITION) is the sum of the condition. */
static bool bind_count_of(struct operands *operands, const struct expr *expr, struct group_aggregate *part)
{
    if (expr->arg_count == 0)
        return true;
    const struct expr *condition = expr->args[0];
    value v = bind_value(&operands->scope, condition);
    if (expr->arg_count > 1 || (v != NO_VALUE && operands->scope.code->at[v].kind != KIND_BOOL)) {
        bind_error(operands->binder, expr->span,
                   "`count()` counts all rows, `count(CONDITION)` those for which it holds",
                   "in a group, `count` takes no argument or a condition");
        return false;
    }
    part->what.kind = AGG_SUM;
    part->has_values = true;
    v = v == NO_VALUE ? NO_VALUE : bind_number(&operands->scope, v, expr->span);
    part->operand = operands_add(operands, v, (struct slot){0});
    part->slot.known = v != NO_VALUE;
    return true;
}

static enum type type_of_aggregate(enum aggregate_kind aggregate, enum kind kind)
{
    if (aggregate == AGG_COUNT)
        return TYPE_I64;
    return aggregate == AGG_MEAN ? TYPE_F64 : type_of_kind(kind);
}

static bool bind_group_aggregate(struct operands *operands, const struct item *item, struct group_aggregate *part)
{
    const struct expr *expr = item->expr;
    enum aggregate_kind kind = AGG_COUNT;
    *part = (struct group_aggregate){.slot = {.name = item->name.text, .type = TYPE_I64, .known = true}};
    if (!is_aggregate(operands->binder, item, &kind))
        return false;
    const char *name = word_find(expr->name.text, strlen(expr->name.text))->canonical;
    part->what = (struct aggregate){.kind = kind, .value = NO_VALUE, .name = name, .span = expr->span};
    if (kind == AGG_COUNT) {
        if (part->slot.name == NULL)
            part->slot.name = name;
        return bind_count_of(operands, expr, part);
    }
    value v = bind_value(&operands->scope, expr->args[0]);
    size_t index;
    if (part->slot.name == NULL)
        part->slot.name =
            bind_is_column(&operands->scope, expr->args[0], v, &index)
                ? arena_printf(operands->binder->arena, "%s_%s", name, operands->flow->columns[index].name)
                : name;
    part->what.name = part->slot.name;
    part->has_values = true;
    part->slot.known = v != NO_VALUE;
    if (v != NO_VALUE) {
        v = bind_number(&operands->scope, v, expr->span);
        part->slot.type = type_of_aggregate(kind, operands->scope.code->at[v].kind);
    }
    part->operand = operands_add(operands, v, (struct slot){0});
    return true;
}

/* Creates the group operator: the keys are operands 0 to key_count - 1, less duplicates. */
static struct task *new_group(struct operands *operands, const size_t *keys, size_t key_count,
                              const struct group_aggregate *parts, size_t part_count)
{
    struct arena *arena = operands->binder->arena;
    size_t *inputs = arena_array(arena, operands->count + 1, sizeof *inputs);
    struct task *task = operands_end(operands, "group", OPERATOR_GROUP, key_count, inputs);
    for (size_t i = 0; i < key_count; i++)
        task->column_op->keys[i] = inputs[keys[i]];
    task->aggregates = arena_array(arena, part_count + 1, sizeof *task->aggregates);
    task->aggregate_count = part_count;
    for (size_t i = 0; i < part_count; i++) {
        task->aggregates[i] = parts[i].what;
        if (!parts[i].has_values)
            continue;
        size_t input = inputs[parts[i].operand];
        enum kind kind = type_table[task->inputs[input].type].kind;
        task->aggregates[i].value = code_input(&task->code, (int64_t)input, kind, parts[i].what.span);
    }
    return task;
}

/* Sets the outputs: a key's value is its input; an aggregate's value only says what may fail. */
static void set_group_outputs(struct binder *binder, struct task *task, struct slot *slots, struct flow *flow)
{
    size_t key_count = task->column_op->key_count, count = key_count + task->aggregate_count;
    value *values = arena_array(binder->arena, count + 1, sizeof *values);
    for (size_t i = 0; i < key_count; i++) {
        size_t input = task->column_op->keys[i];
        values[i] = code_input(&task->code, (int64_t)input, type_table[task->inputs[input].type].kind, task->span);
    }
    for (size_t i = key_count; i < count; i++) {
        value v = task->aggregates[i - key_count].value;
        values[i] = v != NO_VALUE ? v : values[0];
        if (v != NO_VALUE)
            task->code.at[v].fallible = true;
    }
    name_columns(binder, slots, count);
    task_set_outputs(binder, task, flow, slots, values, count);
}

void bind_group(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct operands operands;
    size_t key_count = stage->item_count, most = key_count + stage->aggregate_count;
    if (too_many_columns(binder, most, stage->span)) {
        flow->open = true;
        return;
    }
    struct slot *slots = arena_array(binder->arena, most + 1, sizeof *slots);
    size_t *keys = arena_array(binder->arena, key_count + 1, sizeof *keys);
    struct group_aggregate *parts = arena_array(binder->arena, stage->aggregate_count + 1, sizeof *parts);
    size_t part_count = 0;
    bool open = false;
    operands_begin(binder, stage, flow, &operands);
    for (size_t i = 0; i < key_count; i++) {
        keys[i] = operands_add_item(&operands, &stage->items[i]);
        slots[i] = operands.slots[keys[i]];
        if (stage->items[i].name.text != NULL)
            slots[i].name = stage->items[i].name.text;
        open = open || (slots[i].name == NULL && !slots[i].known); /* its full name is not known */
    }
    for (size_t i = 0; i < stage->aggregate_count; i++)
        part_count += bind_group_aggregate(&operands, &stage->aggregates[i], &parts[part_count]);
    for (size_t i = 0; i < part_count; i++)
        slots[key_count + i] = parts[i].slot;
    struct task *task = new_group(&operands, keys, key_count, parts, part_count);
    set_group_outputs(binder, task, slots, flow);
    flow->rows = -1;
    flow->open = open || part_count < stage->aggregate_count;
}

/* Sets the result: one column, with a value for each row or column of the shape. */
static void set_axis_output(struct binder *binder, const struct stage *stage, struct flow *flow, struct task *task,
                            value v, struct slot slot)
{
    const struct shape shape = flow->shape;
    struct slot *slots = arena_alloc(binder->arena, sizeof *slots);
    *slots = slot;
    task_set_outputs(binder, task, flow, slots, &v, 1);
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
    size_t operand = operands_add(operands, key, (struct slot){.name = rows ? "row" : "col"});
    struct group_aggregate part = {.what = what, .has_values = what.kind != AGG_COUNT, .slot = slot};
    if (part.has_values)
        part.operand = operands_add(operands, v, (struct slot){0});
    struct task *group = new_group(operands, &operand, 1, &part, 1);
    group->column_op->key = rows ? "row" : "column";
    group->column_op->segment = rows ? flow->shape.cols : 0;
    group->column_op->stride = rows ? 1 : flow->shape.cols;
    struct slot *slots = arena_array(binder->arena, 2, sizeof *slots);
    slots[0] = operands->slots[operand];
    slots[1] = slot;
    struct flow groups = *flow;
    set_group_outputs(binder, group, slots, &groups);
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
    operands_add(operands, v, (struct slot){.name = slot.name});
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
    task_set_outputs(binder, scan, &scanned, slots, &scan->aggregates[0].value, 1);

    struct task *last = task_new(binder, "gather", span, NULL);
    last->rows = rows ? shape.rows : shape.cols;
    const struct input whole = {.task = scan, .type = slot.type, .name = slot.name, .whole = true};
    size_t from = task_add_input(binder, last, &whole);
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
    value v = NO_VALUE;
    if (stage->word->stage == STAGE_COUNT) {
        if (stage->item_count == 0)
            return NO_VALUE;
        what->kind = AGG_SUM;
        v = bind_counted(&operands->scope, stage);
        column = false;
    } else if (!column) {
        v = bind_value(&operands->scope, stage->items[0].expr);
        column = bind_is_column(&operands->scope, stage->items[0].expr, v, &index);
    } else if (stage_column(binder, stage, operands->flow)) {
        v = code_input(code, 0, type_table[operands->flow->columns[0].type].kind, stage->span);
    }
    *known = v != NO_VALUE;
    if (!*known)
        return NO_VALUE;
    v = bind_number(&operands->scope, v, stage->span);
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
        task_set_outputs(binder, operands.task, flow, NULL, NULL, 0);
        flow->open = true;
    } else if (group_computes(&what)) {
        reduce_axis_by_group(&operands, v, what, slot, flow);
    } else {
        reduce_axis_by_scan(&operands, v, what, slot, flow);
    }
}
