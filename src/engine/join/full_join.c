/* full join: after the rows of a left join those of the right that nothing has matched.
 *
 * The ids of the left's keys, each once, are scattered into a table of all ids; a row of the right whose id is not in
 * it is one of the rest. The rest is appended under the names of the result. */
#include "engine/join/join.h"
#include "engine/join/join_stages.h"

#include <string.h>

/* The id of each row of the left, those that the index has. */
static void left_ids(const struct join *join, struct flow *ids)
{
    struct binder *binder = join->binder;
    const struct span span = join->stage->span;
    struct task *task = task_of_stage(binder, join->stage, &join->left);
    struct scope scope = scope_of_stage(binder, task, &join->left, NULL);
    const value id = join_index_id(join, &scope);
    const value none = code_int(&task->code, join->right->index->ids, span);
    task_filter(binder, task, code_binary(&task->code, OP_LT, id, none, span), task->span);
    *ids = join->left;
    task_set_slot(binder, task, ids, (struct slot){.name = "id", .type = TYPE_I64, .known = true}, id);
    ids->rows = -1;
}

static void distinct_ids(const struct join *join, struct flow *ids)
{
    const struct span span = join->stage->span;
    struct task *task = operator_new(join->binder, "distinct", span, ids, OPERATOR_DISTINCT, 1);
    task->column_op->keys[0] = 0;
    task_set_slot(join->binder, task, ids, ids->columns[0], task_input(task, 0));
}

/* Makes of the distinct ids a table that is true at each of them. */
static void scatter_ids(const struct join *join, struct flow *ids)
{
    const struct span span = join->stage->span;
    struct binder *binder = join->binder;
    struct task *marks = task_of_stage(binder, join->stage, ids);
    struct slot *slots = arena_array(binder->arena, 2, sizeof *slots);
    slots[0] = ids->columns[0];
    slots[1] = (struct slot){.name = "matched", .type = TYPE_BOOL, .known = true};
    const value values[] = {code_input(&marks->code, 0, KIND_INT, span), code_bool(&marks->code, true, span)};
    task_set_slots(binder, marks, ids, slots, values, 2, 0);
    struct task *task = operator_new(binder, "scatter", span, ids, OPERATOR_SCATTER, 1);
    task->column_op->keys[0] = 0;
    task->column_op->into = join->right->index->ids + 1;
    task_set_slot(binder, task, ids, slots[1], task_input(task, 1));
    ids->rows = task->column_op->into;
}

/* The right as it was evaluated, or bound; its column k is column places[k], SIZE_MAX if nothing needs it. */
static void right_flow(const struct join *join, struct flow *flow, size_t *places)
{
    struct binder *binder = join->binder;
    const struct evaluated *right = join->right;
    *flow = join->unevaluated;
    for (size_t k = 0; k < right->count; k++)
        places[k] = k;
    if (!right->relation)
        return;
    struct task *task = task_new(binder, "right", join->stage->sources[0].span, flow);
    struct slot *slots = arena_array(binder->arena, 2 * right->count + 1, sizeof *slots);
    size_t count = 0, hidden = 0;
    task_reserve_inputs(task, 2 * right->count, binder->arena);
    *flow = (struct flow){.task = task, .rows = right->relation->rows};
    for (size_t k = 0; k < right->count; k++) {
        struct column *column = evaluated_column(right, k);
        places[k] = column ? count : SIZE_MAX;
        if (!column)
            continue;
        slots[count] = right->columns[k];
        task_add_column(binder, task, column, slots[count++].name);
    }
    for (size_t k = 0; k < right->count; k++) {
        const struct column *column = evaluated_column(right, k);
        if (!column || !column->validity)
            continue;
        slots[places[k]].validity = count + hidden;
        slots[count + hidden++] = (struct slot){.name = "present", .type = TYPE_BOOL, .known = true};
        task_add_column(binder, task, column->validity, "present");
    }
    task->rows = flow->rows;
    flow->columns = slots;
    flow->count = count;
    flow->hidden = hidden;
    task_pass_inputs(binder, task, flow);
}

/* Keeps the rows of the right whose id is not in the table. */
static void keep_rest(const struct join *join, struct task *task, const struct flow *right, const size_t *places,
                      const struct flow *ids)
{
    struct binder *binder = join->binder;
    struct scope scope = scope_of_stage(binder, task, right, NULL);
    struct term *keys = arena_array(binder->arena, join->key_count, sizeof *keys);
    struct logical_type *logical = arena_array(binder->arena, join->key_count, sizeof *logical);
    for (size_t i = 0; i < join->key_count; i++) {
        const size_t place = places[join->right_keys[i]];
        keys[i] = term_of_column(&task->code, right, place, task->span);
        logical[i] = right->columns[place].logical;
    }
    const value id = match_id(&scope, join->right->index, keys, logical, task->span);
    const struct input input = {.task = ids->task, .type = TYPE_BOOL, .name = "matched", .whole = true};
    const value matched = task_element(task, &input, id, true, binder->arena);
    task_filter(binder, task, code_unary(&task->code, OP_NOT, matched, task->span), task->span);
}

static bool is_named(const struct slot *slots, size_t count, const char *name)
{
    size_t k = 0;
    while (k < count && strcmp(slots[k].name, name) != 0)
        k++;
    return k < count;
}

/* The columns of the rest under the names of the result; the left's key holds the right's. */
static void name_rest(const struct join *join, struct task *task, const struct flow *right, const size_t *places,
                      struct flow *rest)
{
    struct arena *arena = join->binder->arena;
    const size_t most = join->key_count + join->added_count;
    struct slot *slots = arena_array(arena, most + 1, sizeof *slots);
    struct term *terms = arena_array(arena, most + 1, sizeof *terms);
    size_t count = 0;
    for (size_t i = 0; i < most; i++) {
        const bool key = i < join->key_count;
        const size_t place = places[key ? join->right_keys[i] : join->added[i - join->key_count]];
        const char *name = key ? join->left.columns[join->left_keys[i]].name
                               : join->slots[join->left.count + i - join->key_count].name;
        if (place == SIZE_MAX || is_named(slots, count, name))
            continue;
        slots[count] = right->columns[place];
        slots[count].name = name;
        terms[count++] = term_of_column(&task->code, right, place, task->span);
    }
    *rest = *right;
    task_set_outputs(join->binder, task, rest, slots, terms, count);
}

void join_append_rest(struct join *join, struct flow *flow)
{
    struct binder *binder = join->binder;
    size_t *places = arena_array(binder->arena, join->right->count + 1, sizeof *places);
    struct flow right, rest, ids;
    const bool known = join->right->relation;
    if (known) {
        left_ids(join, &ids);
        distinct_ids(join, &ids);
        scatter_ids(join, &ids);
    }
    right_flow(join, &right, places);
    struct task *task = task_of_stage(binder, join->stage, &right);
    if (known)
        keep_rest(join, task, &right, places, &ids);
    name_rest(join, task, &right, places, &rest);
    rest.rows = -1;
    append_flow(binder, join->stage, &rest, flow);
    join->right->reader = flow->open ? NULL : flow->task;
}
