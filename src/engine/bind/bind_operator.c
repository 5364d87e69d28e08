/* Operators on whole columns: sort, distinct, scatter, hist; and the task before one that computes its operands. */
#include "engine/bind/bind_internal.h"

#include <string.h>

void front_begin(struct binder *binder, const struct stage *stage, const struct flow *flow, struct front *front)
{
    *front = (struct front){.binder = binder, .stage = stage, .flow = flow};
    front->task = task_part(binder, "map", stage->span, flow);
    /* The head of scan and reduce is that of their function. */
    bool function = stage->word->stage == STAGE_SCAN || stage->word->stage == STAGE_REDUCE;
    front->scope = scope_of_stage(binder, front->task, flow, function ? NULL : stage->head);
}

/* Whether the value is a column of the flow as it is, and of which number. */
static bool is_bare(const struct front *front, value v, size_t *index)
{
    if (v == NO_VALUE || front->task->code.at[v].op != OP_INPUT)
        return false;
    *index = (size_t)front->task->code.at[v].integer;
    return *index < front->flow->count;
}

size_t front_add(struct front *front, value v, struct slot slot)
{
    struct arena *arena = front->binder->arena;
    for (size_t k = 0; v != NO_VALUE && k < front->count; k++) {
        if (front->values[k] == v)
            return k;
    }
    if (front->count == front->capacity) {
        size_t capacity = front->capacity == 0 ? 8 : 2 * front->capacity;
        front->slots = arena_grow(arena, front->slots, front->count, capacity, sizeof *front->slots);
        front->values = arena_grow(arena, front->values, front->count, capacity, sizeof *front->values);
        front->capacity = capacity;
    }
    size_t index;
    slot.known = v != NO_VALUE;
    if (is_bare(front, v, &index)) {
        slot.type = front->flow->columns[index].type;
        if (slot.name == NULL)
            slot.name = front->flow->columns[index].name;
    } else {
        slot.type = slot.known ? type_of_kind(front->task->code.at[v].kind) : TYPE_I64;
    }
    front->slots[front->count] = slot;
    front->values[front->count] = v;
    return front->count++;
}

size_t front_item(struct front *front, const struct item *item)
{
    return front_add(front, bind_value(&front->scope, item->expr), (struct slot){.name = item->name.text});
}

struct task *new_breaker(struct front *front, const char *name, const struct flow *flow, enum operator_kind kind,
                         size_t key_count)
{
    struct binder *binder = front->binder;
    struct task *task = task_part(binder, name, front->stage->span, flow);
    struct operator* operator= arena_alloc(binder->arena, sizeof *operator);
    *operator=(struct operator){.kind = kind, .key_count = key_count, .stride = 1, .into = -1};
    operator->keys = arena_array(binder->arena, key_count + 1, sizeof *operator->keys);
    operator->descending = arena_array(binder->arena, key_count + 1, sizeof *operator->descending);
    task->sink = SINK_OPERATOR;
    task->operator= operator;
    return task;
}

struct task *front_end(struct front *front, const char *name, enum operator_kind kind, size_t key_count,
                       size_t *operand)
{
    size_t index;
    bool bare = true;
    for (size_t k = 0; k < front->count; k++)
        bare = is_bare(front, front->values[k], &index) && bare;
    if (bare) {
        /* Nothing has come to read it, so the task made last is taken back. */
        front->binder->queue->count--;
        for (size_t k = 0; k < front->count; k++) {
            is_bare(front, front->values[k], &index);
            operand[k] = index;
        }
        return new_breaker(front, name, front->flow, kind, key_count);
    }
    struct flow ready = *front->flow;
    name_columns(front->binder, front->slots, front->count);
    task_give(front->binder, front->task, &ready, front->slots, front->values, front->count);
    for (size_t k = 0; k < front->count; k++)
        operand[k] = k;
    return new_breaker(front, name, &ready, kind, key_count);
}

/* All columns of the flow, as they are; a number is that of the operand, and of the column. */
static void add_columns(struct front *front)
{
    for (size_t k = 0; k < front->flow->count; k++) {
        const struct slot *slot = &front->flow->columns[k];
        enum kind kind = type_table[slot->type].kind;
        front_add(front, code_input(&front->task->code, (int64_t)k, kind, front->stage->span), *slot);
    }
}

/* Makes the flow's columns the breaker's outputs: its inputs of these numbers, or of the same if NULL. */
static void carry(struct binder *binder, struct task *task, const size_t *inputs, struct flow *flow)
{
    value *values = arena_array(binder->arena, flow->count, sizeof *values);
    for (size_t k = 0; k < flow->count; k++) {
        enum kind kind = type_table[flow->columns[k].type].kind;
        values[k] = code_input(&task->code, (int64_t)(inputs != NULL ? inputs[k] : k), kind, task->span);
    }
    task_give(binder, task, flow, flow->columns, values, flow->count);
}

/* A key that is the same for all rows sorts nothing; in other languages a number there is that of a column. */
static void refuse_constant_key(struct binder *binder, const struct item *item)
{
    const char *hint = "a key is an expression of the columns, such as `sort $1`";
    if (item->expr->kind == EXPR_INT)
        hint = arena_printf(binder->arena, "`$%lld` is the column at that position", (long long)item->expr->integer);
    bind_error(binder, item->expr->span, hint, "this key is the same for all rows");
}

/* Whether `sort desc` or `sort asc` was written, without a key; a column may be called so too. */
static bool is_direction_alone(const struct front *front, bool *descending)
{
    const struct stage *stage = front->stage;
    if (stage->item_count != 1 || stage->items[0].expr->kind != EXPR_NAME)
        return false;
    const char *word = stage->items[0].expr->name.text;
    for (size_t k = 0; k < front->flow->count; k++) {
        if (strcmp(front->flow->columns[k].name, word) == 0)
            return false;
    }
    *descending = strcmp(word, "desc") == 0;
    return *descending || strcmp(word, "asc") == 0;
}

/* Adds the keys as written; without any, all columns are keys in order, of `top` downwards. */
static size_t add_keys(struct front *front, size_t *operands, bool *descending)
{
    const struct stage *stage = front->stage;
    bool downwards = stage->word->stage == STAGE_TOP;
    bool all = stage->item_count == 0 || is_direction_alone(front, &downwards);
    size_t count = all ? front->flow->count : stage->item_count;
    for (size_t i = 0; i < count; i++) {
        if (all) {
            operands[i] = i;
            descending[i] = downwards;
            continue;
        }
        front->scope.reads_row = false;
        operands[i] = front_item(front, &stage->items[i]);
        descending[i] = stage->items[i].descending;
        value v = front->values[operands[i]];
        if (v != NO_VALUE && !front->scope.reads_row)
            refuse_constant_key(front->binder, &stage->items[i]);
    }
    return count;
}

void bind_sort(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct front front;
    size_t most = flow->count + stage->item_count;
    if (too_many_columns(binder, most, stage->span)) {
        flow->open = true;
        return;
    }
    size_t *keys = arena_array(binder->arena, most + 1, sizeof *keys);
    size_t *inputs = arena_array(binder->arena, most + 1, sizeof *inputs);
    bool *descending = arena_array(binder->arena, most + 1, sizeof *descending);
    front_begin(binder, stage, flow, &front);
    add_columns(&front);
    size_t count = add_keys(&front, keys, descending);
    struct task *task = front_end(&front, "sort", OPERATOR_SORT, count, inputs);
    for (size_t i = 0; i < count; i++) {
        task->operator->keys[i] = inputs[keys[i]];
        task->operator->descending[i] = descending[i];
    }
    carry(binder, task, inputs, flow);
}

void bind_distinct(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct front front;
    size_t *inputs = arena_array(binder->arena, flow->count + 1, sizeof *inputs);
    front_begin(binder, stage, flow, &front);
    add_columns(&front);
    struct task *task = front_end(&front, "distinct", OPERATOR_DISTINCT, flow->count, inputs);
    memcpy(task->operator->keys, inputs, flow->count * sizeof *inputs);
    carry(binder, task, inputs, flow);
    flow->rows = -1;
}

/* What a breaker gives may be missing for all that is known of its inputs: nothing may fold it away. */
static void mark_fallible(struct task *task)
{
    for (size_t k = 0; k < task->output_count; k++)
        task->code.at[task->outputs[k].value].fallible = true;
}

void bind_scatter(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct flow at[2] = {*flow};
    bool known = bind_positions(binder, stage, flow, &at[1]);
    struct front front = {.binder = binder, .stage = stage};
    const struct flow nothing = {.rows = -1};
    struct task *task = new_breaker(&front, "scatter", &nothing, OPERATOR_SCATTER, 1);
    task_reserve(binder, task, flow->count + at[1].count);
    task_read(task, flow);
    task_read(task, &at[1]);
    bind_align(binder, stage, task, at, 2);
    if (known)
        task->operator->keys[0] = flow->count;
    else
        task->operator->key_count = 0;

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
        task->operator->into = into;
        flow->rows = into;
    }
    carry(binder, task, NULL, flow);
    mark_fallible(task);
}

/* Which column to count is told before `hist`, how many intervals after it: `hist price` mixes them up. */
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

/* How many intervals; 10 unless told. False, with an error, if a column is named. */
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
    /* Not known while a script is checked: then any number will do. */
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
        task_lose(binder, stage, flow);
        return;
    }
    struct front front;
    front_begin(binder, stage, flow, &front);
    value v = code_input(&front.task->code, 0, type_table[flow->columns[0].type].kind, stage->span);
    size_t input;
    front_add(&front, bind_number(&front.scope, v, stage->span), (struct slot){.name = flow->columns[0].name});
    struct task *task = front_end(&front, "hist", OPERATOR_HIST, 1, &input);
    task->operator->keys[0] = input;
    task->operator->into = bins;

    /* The values say only where the outputs come from. */
    value all = code_input(&task->code, (int64_t)input, type_table[task->inputs[input].type].kind, stage->span);
    const value values[COLUMNS] = {all, all, all};
    struct slot *slots = arena_array(binder->arena, COLUMNS, sizeof *slots);
    memcpy(slots, columns, sizeof columns);
    task_give(binder, task, flow, slots, values, COLUMNS);
    mark_fallible(task);
    flow->rows = bins;
}
