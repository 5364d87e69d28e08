/* The order of groups: keys of several words are grouped faster in no order (group_partition.c), so a group that no
 * reader sees the order of is marked: only order-free aggregates, coarser groups and the first rows of a sort read it,
 * maybe through tasks that compute and filter. Equal rows of a sort stay in the order of the groups' keys, which it
 * gets as further keys.
 *
 * What may fail counts as seeing the order, since its error names a row. */
#include "engine/optimize/passes.h"

/* A walk over those that read a group. */
struct walk {
    const struct queue *queue;
    const struct task *group;
    bool extends; /* sorts get the group's keys as their last keys; else it is only checked that they can */
};

/* Whether the task reads rows of `from` alone, each its own, computes nothing that fails or numbers rows, and keeps
 * them all but for filters. */
static bool is_row_by_row(const struct task *task, const struct task *from)
{
    bool plain = !task_has_window(task) && task->first == 0 && task->limit == INT64_MAX && task->rows_from == from;
    for (size_t k = 0; k < task->input_count; k++)
        plain = plain && task->inputs[k].task == from && !task->inputs[k].whole;
    for (value v = 0; v < task->code.count; v++) {
        const struct instr *instr = &task->code.at[v];
        plain = plain && !(op_table[instr->op].can_fail && instr->kind != KIND_FLOAT) && instr->offset == 0 &&
                instr->shift == 0 && instr->op != OP_ROW && instr->op != OP_ROWS;
    }
    return plain;
}

static bool aggregates_are_free(const struct task *task)
{
    bool free = true;
    for (size_t i = 0; i < task->aggregate_count; i++) {
        const struct aggregate *aggregate = &task->aggregates[i];
        const enum aggregate_kind kind = aggregate->kind;
        free = free && (kind == AGG_COUNT || kind == AGG_SUM || kind == AGG_MEAN || kind == AGG_MIN || kind == AGG_MAX);
    }
    return free;
}

/* A group has the keys of its first row: -0.0 or 0.0. */
static bool has_float_keys(const struct task *group)
{
    bool floats = false;
    for (size_t i = 0; i < group->column_op->key_count; i++)
        floats = floats || type_table[group->inputs[group->column_op->keys[i]].type].kind == KIND_FLOAT;
    return floats;
}

/* Whether the types of its keys take more than a word, and its groups are thus hashed, unless columns have few values.
 * Other groups are found in order, at no cost. */
static bool has_wide_keys(const struct task *group)
{
    size_t bytes = 0;
    for (size_t i = 0; i < group->column_op->key_count; i++)
        bytes += type_table[group->inputs[group->column_op->keys[i]].type].size;
    return bytes > sizeof(uint64_t);
}

/* The output of `from` that is output `column` of the group; *negated: its opposite, a bool. SIZE_MAX: there is none.
 */
static size_t output_of(const struct walk *walk, const struct task *from, size_t column, bool *negated)
{
    *negated = false;
    if (from == walk->group)
        return column;
    const struct code *code = &from->code;
    for (size_t k = 0; k < from->output_count; k++) {
        const struct instr *instr = &code->at[from->outputs[k].value];
        *negated = instr->op == OP_NOT;
        if (*negated)
            instr = &code->at[instr->args[0]];
        if (instr->op != OP_INPUT)
            continue;
        const struct input *input = &from->inputs[instr->integer];
        bool before;
        if (input->output == output_of(walk, input->task, column, &before)) {
            *negated = *negated != before;
            return k;
        }
    }
    return SIZE_MAX;
}

static void add_key(struct task *sort, const struct task *from, size_t output, bool descending, struct arena *arena)
{
    struct column_operator *column_op = sort->column_op;
    const size_t count = column_op->key_count;
    const struct input input = {.task = (struct task *)from,
                                .output = output,
                                .type = from->outputs[output].type,
                                .name = from->outputs[output].name};
    column_op->keys = arena_grow(arena, column_op->keys, count, count + 1, sizeof *column_op->keys);
    column_op->descending = arena_grow(arena, column_op->descending, count, count + 1, sizeof *column_op->descending);
    column_op->keys[count] = task_add_input(sort, &input, arena);
    column_op->descending[count] = descending;
    column_op->key_count++;
}

/* Whether the sort, which reads `from`, can have the group's keys. */
static bool extend(const struct walk *walk, struct task *sort, const struct task *from)
{
    for (size_t i = 0; i < walk->group->column_op->key_count; i++) {
        bool negated;
        const size_t output = output_of(walk, from, i, &negated);
        if (output == SIZE_MAX)
            return false;
        if (walk->extends)
            add_key(sort, from, output, negated, walk->queue->arena);
    }
    return true;
}

static bool is_unseen(const struct walk *walk, const struct task *from);

/* Whether `reader` does not see the order of the rows of `from`. */
static bool is_blind(const struct walk *walk, struct task *reader, const struct task *from)
{
    if (!is_row_by_row(reader, from))
        return false;
    if (reader->sink == SINK_ROWS)
        return is_unseen(walk, reader);
    if (reader->sink == SINK_AGGREGATE)
        return aggregates_are_free(reader);
    if (reader->column_op->kind == OPERATOR_GROUP)
        return aggregates_are_free(reader) && !has_float_keys(reader) && !reader->column_op->key;
    return reader->column_op->kind == OPERATOR_SORT && reader->column_op->first > 0 && extend(walk, reader, from);
}

/* Whether no reader sees the order of the task's rows; the last task is the result. */
static bool is_unseen(const struct walk *walk, const struct task *from)
{
    bool unseen = from->number + 1 < walk->queue->count;
    for (size_t t = from->number + 1; t < walk->queue->count && unseen; t++) {
        struct task *task = walk->queue->tasks[t];
        if (task_refers(task, from))
            unseen = task->equal_count == 0 && is_blind(walk, task, from);
    }
    return unseen;
}

void free_group_order(const struct queue *fused)
{
    for (size_t t = 0; t < fused->count; t++) {
        struct task *task = fused->tasks[t];
        if (task->sink != SINK_OPERATOR || task->column_op->kind != OPERATOR_GROUP || !has_wide_keys(task))
            continue;
        struct walk walk = {.queue = fused, .group = task};
        if (!is_unseen(&walk, task))
            continue;
        walk.extends = true;
        task->column_op->unordered = is_unseen(&walk, task);
    }
    queue_prune(fused);
}
