/* Operators on whole columns: sort, distinct, scatter. */
#include "engine/bind/bind_internal.h"

#include "engine/expression/names_unknown.h"
#include "engine/join/join_stages.h"
#include "engine/lists/lists.h"

#include <string.h>

/* Adds all columns of the flow, in order, then the hidden ones: operand k is column k. */
static void add_columns(struct operands *operands)
{
    for (size_t k = 0; k < operands->flow->count + operands->flow->hidden; k++) {
        const struct slot *slot = &operands->flow->columns[k];
        const enum kind kind = type_table[slot->type].kind;
        operands_add(operands, code_input(&operands->task->code, (int64_t)k, kind, operands->stage->span), *slot);
    }
}

/* Sets the operator's outputs to the flow's columns: inputs[k]. */
static void carry(struct binder *binder, struct task *task, const size_t *inputs, struct flow *flow)
{
    const size_t count = flow->count + flow->hidden;
    value *values = arena_array(binder->arena, count, sizeof *values);
    for (size_t k = 0; k < count; k++)
        values[k] = task_input(task, inputs[k]);
    task_set_slots(binder, task, flow, flow->columns, values, flow->count, flow->hidden);
}

/* A constant key sorts nothing; in SQL, a number there is the position of a column. */
static void refuse_constant_key(struct binder *binder, const struct item *item, const struct flow *flow)
{
    const char *hint = name_hint_of_text(binder, item->expr, flow);
    if (!hint)
        hint = "a key is an expression of the columns, such as `sort $1`";
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
    if (flow_column(operands->flow, word))
        return false;
    *descending = strcmp(word, "desc") == 0;
    return *descending || strcmp(word, "asc") == 0;
}

/* The keys of a sort, as operands. Each key takes two places where it may be missing. */
struct sort_keys {
    size_t *operands;
    bool *descending;
    size_t count;
};

static void add_sort_key(struct sort_keys *keys, size_t operand, bool descending)
{
    keys->operands[keys->count] = operand;
    keys->descending[keys->count++] = descending;
}

/* All columns as keys: a hidden column's opposite comes before the column whose validity it is. */
static void add_all_keys(struct operands *operands, struct sort_keys *keys, bool downwards)
{
    struct code *code = &operands->task->code;
    for (size_t k = 0; k < operands->flow->count; k++) {
        const struct slot *slot = &operands->flow->columns[k];
        if (slot->known && slot->logical.kind == LOGICAL_LIST)
            list_refuse_key(operands->binder, slot->name, operands->stage->word->canonical, operands->stage->span);
        const size_t validity = operands->flow->columns[k].validity;
        if (validity != 0) {
            const value missing = code_unary(code, OP_NOT, operands->values[validity], operands->stage->span);
            add_sort_key(keys, operands_add(operands, missing, (struct slot){.type = TYPE_BOOL}), false);
        }
        add_sort_key(keys, k, downwards);
    }
}

/* Adds the keys as written; without any, all columns are keys in order, descending for `top`. Missing values are last
 * in either direction. */
static void add_keys(struct operands *operands, struct sort_keys *keys)
{
    const struct stage *stage = operands->stage;
    bool downwards = stage->word->stage == STAGE_TOP;
    if (stage->item_count == 0 || is_direction_alone(operands, &downwards)) {
        add_all_keys(operands, keys, downwards);
        return;
    }
    for (size_t i = 0; i < stage->item_count; i++) {
        operands->scope.reads_row = false;
        struct key_operands key = operands_add_key(operands, &stage->items[i]);
        if (key.nullable)
            add_sort_key(keys, key.missing, false);
        add_sort_key(keys, key.value, stage->items[i].descending);
        if (term_is_known(key.term) && !operands->scope.reads_row)
            refuse_constant_key(operands->binder, &stage->items[i], operands->flow);
    }
}

void bind_sort(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct operands operands;
    const size_t most = 2 * (flow->count + flow->hidden + stage->item_count) + 1;
    if (too_many_columns(binder, flow->count + stage->item_count, stage->span)) {
        flow->open = true;
        return;
    }
    struct sort_keys keys = {.operands = arena_array(binder->arena, most + 1, sizeof *keys.operands),
                             .descending = arena_array(binder->arena, most + 1, sizeof *keys.descending)};
    size_t *inputs = arena_array(binder->arena, most + 1, sizeof *inputs);
    operands_begin(binder, stage, flow, &operands);
    add_columns(&operands);
    if (flow->group != 0)
        add_sort_key(&keys, flow->group, false);
    add_keys(&operands, &keys);
    struct task *task = operands_end(&operands, "sort", OPERATOR_SORT, keys.count, inputs);
    for (size_t i = 0; i < keys.count; i++) {
        task->column_op->keys[i] = inputs[keys.operands[i]];
        task->column_op->descending[i] = keys.descending[i];
    }
    carry(binder, task, inputs, flow);
}

void sort_by_column(struct binder *binder, const struct stage *stage, struct flow *flow, size_t column, bool descending)
{
    struct operands operands;
    size_t *inputs = arena_array(binder->arena, flow->count + flow->hidden + 1, sizeof *inputs);
    operands_begin(binder, stage, flow, &operands);
    add_columns(&operands);
    struct task *task = operands_end(&operands, "sort", OPERATOR_SORT, 1, inputs);
    task->column_op->keys[0] = inputs[column];
    task->column_op->descending[0] = descending;
    carry(binder, task, inputs, flow);
}

void bind_distinct(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct operands operands;
    const size_t count = flow->count + flow->hidden;
    size_t *inputs = arena_array(binder->arena, count + 1, sizeof *inputs);
    operands_begin(binder, stage, flow, &operands);
    add_columns(&operands);
    for (size_t k = 0; k < flow->count; k++) {
        if (flow->columns[k].known && flow->columns[k].logical.kind == LOGICAL_LIST)
            list_refuse_key(binder, flow->columns[k].name, "distinct", stage->span);
    }
    struct task *task = operands_end(&operands, "distinct", OPERATOR_DISTINCT, count, inputs);
    memcpy(task->column_op->keys, inputs, count * sizeof *inputs);
    carry(binder, task, inputs, flow);
    flow->rows = -1;
}

void drop_missing(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    const size_t validity = flow->columns[0].validity;
    if (validity == 0)
        return;
    struct task *task = task_of_stage(binder, stage, flow);
    struct slot slot = flow->columns[0];
    slot.validity = 0;
    task_filter(binder, task, code_input(&task->code, (int64_t)validity, KIND_BOOL, stage->span), stage->span);
    task_set_slot(binder, task, flow, slot, task_input(task, 0));
    flow->rows = -1;
}

/* The rows that a scatter leaves out are 0. What 0 does not stand for (the first string of a dictionary, a day of 1970)
 * is missing there instead: such columns get a validity. */
static void add_validity(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    bool all = true;
    for (size_t k = 0; k < flow->count; k++)
        all = all && (flow->columns[k].validity != 0 || flow->columns[k].logical.kind == LOGICAL_NUMBER);
    if (all)
        return;
    struct task *task = task_of_stage(binder, stage, flow);
    const size_t count = flow->count + flow->hidden;
    struct slot *slots = arena_grow(binder->arena, flow->columns, count, count + 1, sizeof *slots);
    value *values = arena_array(binder->arena, count + 1, sizeof *values);
    for (size_t k = 0; k < count; k++)
        values[k] = task_input(task, k);
    slots[count] = (struct slot){.name = "present", .type = TYPE_BOOL, .known = true};
    values[count] = code_bool(&task->code, true, stage->span);
    for (size_t k = 0; k < flow->count; k++) {
        if (slots[k].validity == 0 && slots[k].logical.kind != LOGICAL_NUMBER)
            slots[k].validity = count;
    }
    task_set_slots(binder, task, flow, slots, values, flow->count, flow->hidden + 1);
}

void bind_scatter(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    add_validity(binder, stage, flow);
    struct flow at[2] = {*flow};
    const bool known = bind_positions(binder, stage, flow, &at[1]);
    const struct flow nothing = {.rows = -1};
    struct task *task = operator_new(binder, "scatter", stage->span, &nothing, OPERATOR_SCATTER, 1);
    task_reserve_inputs(task, flow->count + flow->hidden + at[1].count, binder->arena);
    task_add_inputs(task, flow);
    task_add_inputs(task, &at[1]);
    bind_align(binder, stage, task, at, 2);
    if (known)
        task->column_op->keys[0] = flow->count + flow->hidden;
    else
        task->column_op->key_count = 0;

    flow->rows = task->rows;
    if (stage->into) {
        struct scope scope = scope_without_columns(binder, NULL, "the result's number of rows is one number");
        int64_t into = -1;
        enum known size =
            bind_constant_int(&scope, stage->into, "how many rows there will be", "as in `into 1000`", &into);
        if (size == KNOWN_VALUE && into < 0)
            bind_error(binder, stage->into->span, "as in `into 1000`", "the number of rows cannot be %lld",
                       (long long)into);
        task->column_op->into = into;
        flow->rows = into;
    }
    task_pass_inputs(binder, task, flow);
    mark_fallible(task);
}
