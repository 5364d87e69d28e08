/* Dependent keys of groups: a key that is computed of other keys, as `a - 1` beside `a` or what a join found by `a`, or
 * of nothing but constants, divides no group further. It is left out, and a task behind the group computes it of the
 * others, once for each group: a text is then read of few rows.
 *
 * Groups stay in their order: a key depends on those before it, unless no order is seen. Keys stay what they were, to
 * the bit: none depends on floats, since a group has 0.0 beside -0.0. Nothing that may fail is moved, since an error
 * names its row. */
#include "engine/optimize/passes.h"
#include "engine/plan/code_loop.h"

/* A group, and the task whose rows it groups, which computes keys. */
struct dependence {
    const struct task *group, *rows;
    value *computed; /* of each key, in the code of `rows`; NO_VALUE: it is a column that `rows` may read, too */
    bool *left_out;  /* of each key */
};

static bool is_computed(const struct dependence *dependence, size_t key)
{
    return dependence->computed[key] != NO_VALUE;
}

static const struct input *input_of_key(const struct task *group, size_t key)
{
    return &group->inputs[group->column_op->keys[key]];
}

/* Whether the value is the key, in the same row. */
static bool is_key(const struct dependence *dependence, value v, size_t key)
{
    const struct instr *instr = &dependence->rows->code.at[v];
    if (is_computed(dependence, key))
        return dependence->computed[key] == v;
    const struct column *column = input_of_key(dependence->group, key)->column;
    return column && instr->op == OP_INPUT && instr->offset == 0 && instr->shift == 0 &&
           dependence->rows->inputs[instr->integer].column == column;
}

/* The value whose opposite the key is, as where a key is missing; NO_VALUE: none. */
static value opposite_of(const struct dependence *dependence, size_t key)
{
    if (!is_computed(dependence, key))
        return NO_VALUE;
    const struct instr *instr = &dependence->rows->code.at[dependence->computed[key]];
    return instr->op == OP_NOT ? instr->args[0] : NO_VALUE;
}

/* Whether the operation gives the same result wherever its arguments are the same, and never fails. */
static bool is_pure(const struct instr *instr)
{
    switch (instr->op) {
    case OP_INPUT:
    case OP_ROW:
    case OP_ROWS:
    case OP_NEAR:
    case OP_TEXT:
    case OP_ASSERT:
        return false;
    default:
        return !instr->checked && instr->shift == 0;
    }
}

/* Marks the values that are computed of keys: of those that stay, but for `key`, and only of those before it unless the
 * order of groups is not seen. */
static void mark_known(const struct dependence *dependence, const struct code *analysed, size_t key, bool *known)
{
    const struct column_operator *column_op = dependence->group->column_op;
    const size_t end = column_op->unordered ? column_op->key_count : key;
    for (value v = 0; v < analysed->count; v++) {
        const struct instr *instr = &analysed->at[v];
        known[v] = is_pure(instr);
        for (int i = 0; i < op_table[instr->op].arity; i++)
            known[v] = known[v] && known[instr->args[i]];
        for (size_t k = 0; k < end && instr->kind != KIND_FLOAT; k++) {
            if (k != key && !dependence->left_out[k] && (is_key(dependence, v, k) || opposite_of(dependence, k) == v))
                known[v] = true;
        }
    }
}

/* The same code, with what is checked of it. */
static const struct code *analyse(const struct task *task, struct arena *arena)
{
    struct task *clone = task_clone(task, arena);
    struct column **columns = arena_array(arena, task->input_count + 1, sizeof *columns);
    for (size_t k = 0; k < task->input_count; k++)
        columns[k] = task->inputs[k].column;
    range_analyse(clone, columns, task->rows >= 0 ? task->rows : INT64_MAX);
    return &clone->code;
}

/* Finds the keys to leave out, at least one stays; returns how many stay. */
static size_t find_dependent(struct dependence *dependence, struct arena *arena)
{
    const struct column_operator *column_op = dependence->group->column_op;
    const struct code *code = analyse(dependence->rows, arena);
    bool *known = arena_array(arena, (size_t)code->count + 1, sizeof *known);
    size_t stay = column_op->key_count;
    for (size_t key = column_op->key_count; key-- > 0 && stay > 1;) {
        if (!is_computed(dependence, key))
            continue;
        mark_known(dependence, code, key, known);
        dependence->left_out[key] = known[dependence->computed[key]];
        stay -= dependence->left_out[key];
    }
    return stay;
}

/* The only task whose rows the group reads, if it computes keys; NULL: there is none, or its rows are computed in
 * loops. */
static const struct task *task_of_rows(const struct task *group)
{
    const struct task *rows = NULL;
    for (size_t k = 0; k < group->input_count; k++) {
        const struct task *task = group->inputs[k].task;
        if (task && rows && task != rows)
            return NULL;
        rows = task ? task : rows;
    }
    return rows && rows->sink == SINK_ROWS && !code_has_loops(&rows->code) ? rows : NULL;
}

static bool is_plain_group(const struct task *task)
{
    return task->sink == SINK_OPERATOR && task->column_op->kind == OPERATOR_GROUP && task->column_op->key_count > 1 &&
           !task->column_op->key;
}

/* ---- the group without them ---- */

static value read_again(struct task *made, const struct task *group, value v, struct arena *arena)
{
    if (v == NO_VALUE)
        return v;
    const struct instr *instr = &group->code.at[v];
    const struct input *input = &group->inputs[instr->integer];
    const value again = code_input(&made->code, (int64_t)task_add_input(made, input, arena), instr->kind, instr->span);
    made->code.at[again].fallible = instr->fallible;
    return again;
}

static void read_aggregates(struct task *made, const struct task *group, struct arena *arena)
{
    made->aggregates = arena_grow(arena, group->aggregates, group->aggregate_count, group->aggregate_count + 1,
                                  sizeof *made->aggregates);
    for (size_t i = 0; i < made->aggregate_count; i++) {
        struct aggregate *aggregate = &made->aggregates[i];
        aggregate->value = read_again(made, group, aggregate->value, arena);
        if (!aggregate_table[aggregate->kind].operands)
            continue;
        aggregate->other = read_again(made, group, aggregate->other, arena);
        aggregate->where = read_again(made, group, aggregate->where, arena);
    }
}

/* Makes `made`, which takes the place of the group, a group by the keys that stay. */
static void group_by_rest(struct task *made, const struct dependence *dependence, size_t stay, struct arena *arena)
{
    const struct task *group = dependence->group;
    const struct column_operator *from = group->column_op;
    struct column_operator *column_op = arena_copy(arena, from, sizeof *from);
    made->column_op = column_op;
    column_op->keys = arena_array(arena, stay, sizeof *column_op->keys);
    column_op->roles = from->roles ? arena_array(arena, stay, sizeof *column_op->roles) : NULL;
    column_op->key_count = made->output_count = 0;
    code_init(&made->code, arena);
    made->inputs = NULL;
    made->input_count = 0;
    task_reserve_inputs(made, group->input_count, arena);
    made->outputs = arena_array(arena, group->output_count, sizeof *made->outputs);
    for (size_t k = 0; k < group->output_count; k++) {
        const bool is_key = k < from->key_count;
        if (is_key && dependence->left_out[k])
            continue;
        struct output *output = &made->outputs[made->output_count++];
        *output = group->outputs[k];
        output->validity = 0;
        output->value = read_again(made, group, output->value, arena);
        if (!is_key)
            continue;
        if (column_op->roles)
            column_op->roles[column_op->key_count] = from->roles[k];
        column_op->keys[column_op->key_count++] = (size_t)made->code.at[output->value].integer;
    }
    read_aggregates(made, group, arena);
}

/* ---- the task that computes them ---- */

static value add_output_of(struct task *task, struct task *group, size_t output)
{
    const struct input input = input_of_output(group, output);
    return task_read(task, &input, task->span);
}

/* What keys are in the code of the rows. */
static void map_keys(const struct dependence *dependence, struct task *task, const value *outputs, value *map)
{
    const struct code *code = &dependence->rows->code;
    for (value v = 0; v < code->count; v++) {
        for (size_t k = 0; k < dependence->group->column_op->key_count && map[v] == NO_VALUE; k++) {
            if (dependence->left_out[k])
                continue;
            if (is_key(dependence, v, k))
                map[v] = outputs[k];
            else if (opposite_of(dependence, k) == v)
                map[v] = code_unary(&task->code, OP_NOT, outputs[k], task->span);
        }
    }
}

static void compute_rest(struct task *task, const struct dependence *dependence, struct task *made, struct arena *arena)
{
    const struct task *group = dependence->group, *rows = dependence->rows;
    const size_t keys = group->column_op->key_count;
    value *outputs = arena_array(arena, group->output_count, sizeof *outputs);
    value *inputs = arena_array(arena, rows->input_count + 1, sizeof *inputs);
    value *map = code_map(arena, &rows->code);
    task->stages = group->stages;
    task->stage_count = group->stage_count;
    task->span = group->span;
    task->rows_from = made;
    task->sink = SINK_ROWS;
    task_reserve_inputs(task, group->output_count + rows->input_count, arena);
    for (size_t k = 0, at = 0; k < group->output_count; k++) {
        if (k >= keys || !dependence->left_out[k])
            outputs[k] = add_output_of(task, made, at++);
    }
    map_keys(dependence, task, outputs, map);
    for (size_t k = 0; k < rows->input_count; k++) {
        const struct input *input = &rows->inputs[k];
        inputs[k] = NO_VALUE;
        if (input->whole)
            inputs[k] = task_read(task, input, task->span);
    }
    task->output_count = group->output_count;
    task->outputs =
        arena_grow(arena, group->outputs, group->output_count, group->output_count + 1, sizeof *task->outputs);
    for (size_t k = 0; k < group->output_count; k++) {
        if (k < keys && dependence->left_out[k])
            outputs[k] = code_inline(&task->code, &rows->code, dependence->computed[k], inputs, NO_VALUE, map);
        task->outputs[k].value = outputs[k];
    }
}

/* Lets all that reads the group, behind `task`, read that instead. */
static void redirect(const struct queue *queue, const struct task *group, struct task *task)
{
    struct arena *arena = queue->arena;
    for (size_t t = task->number + 1; t < queue->count; t++) {
        struct task *reader = queue->tasks[t];
        reader->inputs =
            arena_grow(arena, reader->inputs, reader->input_count, reader->input_count + 1, sizeof *reader->inputs);
        reader->equals =
            arena_grow(arena, reader->equals, reader->equal_count, reader->equal_count + 1, sizeof(struct task *));
        for (size_t k = 0; k < reader->input_count; k++) {
            if (reader->inputs[k].task == group)
                reader->inputs[k].task = task;
        }
        for (size_t k = 0; k < reader->equal_count; k++) {
            if (reader->equals[k] == group)
                reader->equals[k] = task;
        }
        if (reader->rows_from == group)
            reader->rows_from = task;
    }
}

static bool is_read(const struct queue *queue, const struct task *task)
{
    bool read = task->number + 1 == queue->count;
    for (size_t t = task->number + 1; t < queue->count; t++)
        read = read || task_refers(queue->tasks[t], task);
    return read;
}

static void leave_out(struct queue *fused, struct task *group, const struct dependence *dependence, size_t stay)
{
    struct arena *arena = fused->arena;
    struct dependence before = *dependence;
    before.group = arena_copy(arena, group, sizeof *group);
    struct task *task = queue_insert(fused, group->number + 1);
    group_by_rest(group, &before, stay, arena);
    compute_rest(task, &before, group, arena);
    redirect(fused, group, task);
    if (!is_read(fused, dependence->rows))
        queue_remove(fused, dependence->rows);
}

void leave_out_keys(struct queue *fused)
{
    struct arena *arena = fused->arena;
    for (size_t t = 0; t < fused->count; t++) {
        struct task *group = fused->tasks[t];
        const struct task *rows = is_plain_group(group) ? task_of_rows(group) : NULL;
        if (!rows)
            continue;
        const size_t keys = group->column_op->key_count;
        struct dependence dependence = {.group = group,
                                        .rows = rows,
                                        .computed = arena_array(arena, keys, sizeof *dependence.computed),
                                        .left_out = arena_array(arena, keys, sizeof *dependence.left_out)};
        for (size_t key = 0; key < keys; key++) {
            const struct input *input = input_of_key(group, key);
            dependence.computed[key] = input->task ? rows->outputs[input->output].value : NO_VALUE;
        }
        const size_t stay = find_dependent(&dependence, arena);
        if (stay < keys)
            leave_out(fused, group, &dependence, stay);
        t = group->number;
    }
    queue_prune(fused);
}
