/* Operators on whole columns: sort, distinct, scatter, hist; and the task before one that computes its operands. */
#include "engine/bind/bind_internal.h"

#include <string.h>

void operands_begin(struct binder *binder, const struct stage *stage, const struct flow *flow,
                    struct operands *operands)
{
    *operands = (struct operands){.binder = binder, .stage = stage, .flow = flow};
    operands->task = task_reading(binder, "map", stage->span, flow);
    /* The head of scan and reduce belongs to their function. */
    bool function = stage->word->stage == STAGE_SCAN || stage->word->stage == STAGE_REDUCE;
    operands->scope = scope_of_stage(binder, operands->task, flow, function ? NULL : stage->head);
}

/* Whether the value is a column of the flow, unchanged; returns its number. */
static bool is_bare(const struct operands *operands, value v, size_t *index)
{
    if (v == NO_VALUE || operands->task->code.at[v].op != OP_INPUT)
        return false;
    *index = (size_t)operands->task->code.at[v].integer;
    return *index < operands->flow->count;
}

size_t operands_add(struct operands *operands, value v, struct slot slot)
{
    struct arena *arena = operands->binder->arena;
    for (size_t k = 0; v != NO_VALUE && k < operands->count; k++) {
        if (operands->values[k] == v)
            return k;
    }
    if (operands->count == operands->capacity) {
        size_t capacity = operands->capacity == 0 ? 8 : 2 * operands->capacity;
        operands->slots = arena_grow(arena, operands->slots, operands->count, capacity, sizeof *operands->slots);
        operands->values = arena_grow(arena, operands->values, operands->count, capacity, sizeof *operands->values);
        operands->capacity = capacity;
    }
    size_t index;
    slot.known = v != NO_VALUE;
    if (is_bare(operands, v, &index)) {
        slot.type = operands->flow->columns[index].type;
        if (slot.name == NULL)
            slot.name = operands->flow->columns[index].name;
    } else {
        slot.type = slot.known ? type_of_kind(operands->task->code.at[v].kind) : TYPE_I64;
    }
    operands->slots[operands->count] = slot;
    operands->values[operands->count] = v;
    return operands->count++;
}

size_t operands_add_item(struct operands *operands, const struct item *item)
{
    return operands_add(operands, bind_value(&operands->scope, item->expr), (struct slot){.name = item->name.text});
}

/* Creates an operator that reads the columns of `flow`. */
static struct task *new_operator(struct operands *operands, const char *name, const struct flow *flow,
                                 enum operator_kind kind, size_t key_count)
{
    struct binder *binder = operands->binder;
    struct task *task = task_reading(binder, name, operands->stage->span, flow);
    struct column_operator *column_op = arena_alloc(binder->arena, sizeof *column_op);
    *column_op = (struct column_operator){.kind = kind, .key_count = key_count, .stride = 1, .into = -1};
    column_op->keys = arena_array(binder->arena, key_count + 1, sizeof *column_op->keys);
    column_op->descending = arena_array(binder->arena, key_count + 1, sizeof *column_op->descending);
    task->sink = SINK_OPERATOR;
    task->column_op = column_op;
    return task;
}

struct task *operands_end(struct operands *operands, const char *name, enum operator_kind kind, size_t key_count,
                          size_t *operand)
{
    size_t index;
    bool bare = true;
    for (size_t k = 0; k < operands->count; k++)
        bare = is_bare(operands, operands->values[k], &index) && bare;
    if (bare) {
        /* Nothing is computed and no task reads it yet: drop it. */
        operands->binder->queue->count--;
        for (size_t k = 0; k < operands->count; k++) {
            is_bare(operands, operands->values[k], &index);
            operand[k] = index;
        }
        return new_operator(operands, name, operands->flow, kind, key_count);
    }
    struct flow ready = *operands->flow;
    name_columns(operands->binder, operands->slots, operands->count);
    task_set_outputs(operands->binder, operands->task, &ready, operands->slots, operands->values, operands->count);
    for (size_t k = 0; k < operands->count; k++)
        operand[k] = k;
    return new_operator(operands, name, &ready, kind, key_count);
}

/* Adds all columns of the flow, in order: operand k is column k. */
static void add_columns(struct operands *operands)
{
    for (size_t k = 0; k < operands->flow->count; k++) {
        const struct slot *slot = &operands->flow->columns[k];
        enum kind kind = type_table[slot->type].kind;
        operands_add(operands, code_input(&operands->task->code, (int64_t)k, kind, operands->stage->span), *slot);
    }
}

/* Sets the operator's outputs to the flow's columns: inputs[k], or input k if `inputs` is NULL. */
static void carry(struct binder *binder, struct task *task, const size_t *inputs, struct flow *flow)
{
    value *values = arena_array(binder->arena, flow->count, sizeof *values);
    for (size_t k = 0; k < flow->count; k++) {
        enum kind kind = type_table[flow->columns[k].type].kind;
        values[k] = code_input(&task->code, (int64_t)(inputs != NULL ? inputs[k] : k), kind, task->span);
    }
    task_set_outputs(binder, task, flow, flow->columns, values, flow->count);
}

/* A constant key sorts nothing; in SQL, a number there is the position of a column. */
static void refuse_constant_key(struct binder *binder, const struct item *item)
{
    const char *hint = "a key is an expression of the columns, such as `sort $1`";
    if (item->expr->kind == EXPR_INT)
        hint = arena_printf(binder->arena, "`$%lld` is the column at that position", (long long)item->expr->integer);
    bind_error(binder, item->expr->span, hint, "this key is the same for all rows");
}

/* Whether only a direction was written (`sort desc`) and no column has that name. */
static bool is_direction_alone(const struct operands *operands, bool *descending)
{
    const struct stage *stage = operands->stage;
    if (stage->item_count != 1 || stage->items[0].expr->kind != EXPR_NAME)
        return false;
    const char *word = stage->items[0].expr->name.text;
    for (size_t k = 0; k < operands->flow->count; k++) {
        if (strcmp(operands->flow->columns[k].name, word) == 0)
            return false;
    }
    *descending = strcmp(word, "desc") == 0;
    return *descending || strcmp(word, "asc") == 0;
}

/* Adds the keys as written; without any, all columns are keys in order, descending for `top`. */
static size_t add_keys(struct operands *operands, size_t *key_operands, bool *descending)
{
    const struct stage *stage = operands->stage;
    bool downwards = stage->word->stage == STAGE_TOP;
    bool all = stage->item_count == 0 || is_direction_alone(operands, &downwards);
    size_t count = all ? operands->flow->count : stage->item_count;
    for (size_t i = 0; i < count; i++) {
        if (all) {
            key_operands[i] = i;
            descending[i] = downwards;
            continue;
        }
        operands->scope.reads_row = false;
        key_operands[i] = operands_add_item(operands, &stage->items[i]);
        descending[i] = stage->items[i].descending;
        value v = operands->values[key_operands[i]];
        if (v != NO_VALUE && !operands->scope.reads_row)
            refuse_constant_key(operands->binder, &stage->items[i]);
    }
    return count;
}

void bind_sort(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct operands operands;
    size_t most = flow->count + stage->item_count;
    if (too_many_columns(binder, most, stage->span)) {
        flow->open = true;
        return;
    }
    size_t *keys = arena_array(binder->arena, most + 1, sizeof *keys);
    size_t *inputs = arena_array(binder->arena, most + 1, sizeof *inputs);
    bool *descending = arena_array(binder->arena, most + 1, sizeof *descending);
    operands_begin(binder, stage, flow, &operands);
    add_columns(&operands);
    size_t count = add_keys(&operands, keys, descending);
    struct task *task = operands_end(&operands, "sort", OPERATOR_SORT, count, inputs);
    for (size_t i = 0; i < count; i++) {
        task->column_op->keys[i] = inputs[keys[i]];
        task->column_op->descending[i] = descending[i];
    }
    carry(binder, task, inputs, flow);
}

void bind_distinct(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct operands operands;
    size_t *inputs = arena_array(binder->arena, flow->count + 1, sizeof *inputs);
    operands_begin(binder, stage, flow, &operands);
    add_columns(&operands);
    struct task *task = operands_end(&operands, "distinct", OPERATOR_DISTINCT, flow->count, inputs);
    memcpy(task->column_op->keys, inputs, flow->count * sizeof *inputs);
    carry(binder, task, inputs, flow);
    flow->rows = -1;
}

/* An operator may fail whatever its inputs: marks its outputs so that nothing folds them away. */
static void mark_fallible(struct task *task)
{
    for (size_t k = 0; k < task->output_count; k++)
        task->code.at[task->outputs[k].value].fallible = true;
}

void bind_scatter(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct flow at[2] = {*flow};
    bool known = bind_positions(binder, stage, flow, &at[1]);
    struct operands operands = {.binder = binder, .stage = stage};
    const struct flow nothing = {.rows = -1};
    struct task *task = new_operator(&operands, "scatter", &nothing, OPERATOR_SCATTER, 1);
    task_reserve_inputs(binder, task, flow->count + at[1].count);
    task_add_inputs(task, flow);
    task_add_inputs(task, &at[1]);
    bind_align(binder, stage, task, at, 2);
    if (known)
        task->column_op->keys[0] = flow->count;
    else
        task->column_op->key_count = 0;

    flow->rows = task->rows;
    if (stage->into != NULL) {
        struct code code;
        code_init(&code, binder->arena);
        struct scope scope = scope_without_columns(binder, &code, "the result's number of rows is one number");
        int64_t into = -1;
        enum known size =
            bind_constant_int(&scope, stage->into, "how many rows there will be", "as in `into 1000`", &into);
        if (size == KNOWN_VALUE && into < 0)
            bind_error(binder, stage->into->span, "as in `into 1000`", "the number of rows cannot be %lld",
                       (long long)into);
        task->column_op->into = into;
        flow->rows = into;
    }
    carry(binder, task, NULL, flow);
    mark_fallible(task);
}

/* The column of `hist` is chosen before it and its number of intervals after it; `hist price` mixes them up. */
static bool names_column(const struct binder *binder, const struct stage *stage, const struct flow *flow)
{
    const struct expr *expr = stage->items[0].expr;
    if (expr->kind == EXPR_NAME && env_find(binder->env, expr->name.text) != NULL)
        return false;
    for (size_t i = 0; expr->kind == EXPR_NAME && i < flow->count; i++) {
        if (strcmp(expr->name.text, flow->columns[i].name) == 0)
            return true;
    }
    return false;
}

/* Sets the number of intervals, 10 by default. False, with an error, if a column is named. */
static bool bins_of(struct binder *binder, const struct stage *stage, const struct flow *flow, int64_t *bins)
{
    enum { DEFAULT_BINS = 10, MOST_BINS = 1000000 };
    *bins = DEFAULT_BINS;
    if (stage->head != NULL) {
        bind_error(binder, stage->head->span, "as in `hist 20`", "`hist` takes a number of intervals");
        return true;
    }
    if (stage->item_count == 0)
        return true;
    const struct expr *expr = stage->items[0].expr;
    if (names_column(binder, stage, flow)) {
        bind_error(binder, expr->span,
                   arena_printf(binder->arena, "choose the column first: `pick %s | hist`", expr->name.text),
                   "`hist` takes a number of intervals, not a column");
        return false;
    }
    /* Unknown in a check: then any number will do. */
    if (stage_number(binder, stage, 1, bins) && *bins > MOST_BINS)
        bind_error(binder, expr->span, NULL, "`hist` has at most %d intervals", MOST_BINS);
    return true;
}

void bind_hist(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    static const struct slot columns[] = {{"lo", TYPE_F64, true}, {"hi", TYPE_F64, true}, {"count", TYPE_I64, true}};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    int64_t bins;
    if (!bins_of(binder, stage, flow, &bins) || !stage_column(binder, stage, flow)) {
        task_unknown(binder, stage, flow);
        return;
    }
    struct operands operands;
    operands_begin(binder, stage, flow, &operands);
    value v = code_input(&operands.task->code, 0, type_table[flow->columns[0].type].kind, stage->span);
    size_t input;
    operands_add(&operands, bind_number(&operands.scope, v, stage->span), (struct slot){.name = flow->columns[0].name});
    struct task *task = operands_end(&operands, "hist", OPERATOR_HIST, 1, &input);
    task->column_op->keys[0] = input;
    task->column_op->into = bins;

    /* The values only say what the outputs are computed from. */
    value all = code_input(&task->code, (int64_t)input, type_table[task->inputs[input].type].kind, stage->span);
    const value values[COLUMNS] = {all, all, all};
    struct slot *slots = arena_array(binder->arena, COLUMNS, sizeof *slots);
    memcpy(slots, columns, sizeof columns);
    task_set_outputs(binder, task, flow, slots, values, COLUMNS);
    mark_fallible(task);
    flow->rows = bins;
}
