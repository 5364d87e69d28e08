/* Axis reductions to folds.
 *
 * A sum, minimum or maximum along an axis of rows that are computed of nothing but their numbers and of elements at
 * any position, as an index product is, becomes a fold over that axis: the rows are not stored. */
#include "engine/optimize/optimize.h"
#include "engine/optimize/passes.h"
#include "engine/plan/code_loop.h"
#include "engine/plan/verify.h"

#include <assert.h>

/* A reduction and the task that computes its rows. */
struct axis {
    const struct task *reduction, *producer;
    int64_t groups, length;
    bool along_rows; /* a group is rows next to each other, not rows `groups` apart */
    value body;      /* in the producer's code */
};

/* Whether it is a fold of rounds, and one along an axis. */
static bool folds(enum aggregate_kind kind)
{
    return kind == AGG_SUM || aggregate_table[kind].extreme;
}

/* How many tasks read the task, or have its number of rows. */
static size_t references(const struct queue *queue, const struct task *to)
{
    size_t count = 0;
    for (size_t t = 0; t < queue->count; t++) {
        count += task_refers(queue->tasks[t], to);
    }
    return count;
}

/* Whether the value is computed of row numbers and of elements at positions. */
static bool is_placeless(const struct task *task, value root)
{
    bool *live = arena_array(task->code.arena, (size_t)task->code.count + 1, sizeof *live);
    code_mark(&task->code, root, live);
    for (value v = 0; v < task->code.count; v++) {
        if (live[v] && task->code.at[v].op == OP_INPUT)
            return false;
    }
    return true;
}

/* Whether a fold for each group keeps all threads busy. */
static bool has_groups(const struct axis *axis)
{
    enum { LEAST_GROUPS = 4096 };
    return axis->length > 0 && (axis->groups >= LEAST_GROUPS || axis->groups >= axis->length);
}

static bool find_axis(const struct queue *queue, const struct task *task, struct axis *axis)
{
    const struct column_operator *op = task->column_op;
    if (!task_aggregates_axis(task) || !folds(task->aggregates[0].kind) || task->aggregates[0].has_initial)
        return false;
    const struct instr *read = &task->code.at[task->aggregates[0].value];
    if (read->op != OP_INPUT || !task->inputs[read->integer].task)
        return false;
    const struct input *input = &task->inputs[read->integer];
    const struct task *from = input->task;
    const int64_t extent = op->segment > 0 ? op->segment : op->stride;
    if (from->sink != SINK_ROWS || from->filter_count > 0 || from->rows <= 0 || from->first != 0 ||
        from->equal_count > 0 || task->equal_count > 0 || from->rows % extent != 0 ||
        (op->segment > 0 && op->stride != 1) || from->window.skip > 0 || from->window.take != INT64_MAX ||
        from->window.tail >= 0 || references(queue, from) != 1 || code_free_level(&from->code) >= LOOP_LEVELS)
        return false;
    *axis = (struct axis){.reduction = task,
                          .producer = from,
                          .along_rows = op->segment > 0,
                          .groups = op->segment > 0 ? from->rows / extent : extent,
                          .length = op->segment > 0 ? extent : from->rows / extent,
                          .body = from->outputs[input->output].value};
    return has_groups(axis) && from->code.at[axis->body].kind != KIND_BOOL && is_placeless(from, axis->body);
}

/* The fold's body: of the producer's row that the group's number and the place in it give. */
static value inline_body(struct code *code, const struct axis *axis, value place, struct arena *arena)
{
    const struct code *from = &axis->producer->code;
    const struct span span = axis->reduction->span;
    const int64_t extent = axis->along_rows ? axis->length : axis->groups;
    value *map = code_map(arena, from);
    const value group = code_row(code, span);
    const value high = axis->along_rows ? group : place, low = axis->along_rows ? place : group;
    const value row = code_binary(code, OP_ADD, code_with(code, OP_MUL, high, extent, span), low, span);
    for (value v = 0; v < from->count; v++) {
        const struct instr *instr = &from->at[v];
        if (instr->op == OP_ROWS)
            map[v] = code_exact_int(code, axis->producer->rows, span);
        if ((instr->op != OP_DIV && instr->op != OP_MOD) || from->at[instr->args[0]].op != OP_ROW ||
            from->at[instr->args[1]].op != OP_CONST || from->at[instr->args[1]].integer != extent)
            continue;
        map[v] = instr->op == OP_DIV ? high : low;
    }
    return code_inline(code, from, axis->body, NULL, row, map);
}

static void join_stages(struct task *made, const struct axis *axis, struct arena *arena)
{
    const struct task *first = axis->producer, *then = axis->reduction;
    made->stage_count = first->stage_count + then->stage_count;
    made->stages = arena_grow(arena, first->stages, first->stage_count, made->stage_count + 1, sizeof *made->stages);
    for (size_t k = 0; k < then->stage_count; k++)
        made->stages[first->stage_count + k] = then->stages[k];
}

static void make_fold(struct task *made, const struct axis *axis, struct arena *arena)
{
    const struct task *task = axis->reduction;
    const struct span span = task->aggregates[0].span;
    made->span = task->span;
    made->rows = axis->groups;
    made->sink = SINK_ROWS;
    made->inputs = axis->producer->inputs;
    made->input_count = axis->producer->input_count;
    join_stages(made, axis, arena);
    code_init(&made->code, arena);
    const value first = code_exact_int(&made->code, 0, span);
    const value last = code_exact_int(&made->code, axis->length - 1, span);
    const value place = code_counter(&made->code, code_free_level(&axis->producer->code), first, last, span);
    const value body = inline_body(&made->code, axis, place, arena);
    made->output_count = task->output_count;
    made->outputs = arena_grow(arena, task->outputs, made->output_count, made->output_count, sizeof *made->outputs);
    made->outputs[0].value = code_row(&made->code, span);
    made->outputs[1].value = code_fold(&made->code, task->aggregates[0].kind, place, body, false, span);
}

static struct task *moved(struct task *const *made, const struct task *task)
{
    return task ? made[task->number] : NULL;
}

void task_move_references(struct task *task, struct task *const *made, struct arena *arena)
{
    struct input *inputs = arena_array(arena, task->input_count + 1, sizeof *inputs);
    struct task **equals = arena_array(arena, task->equal_count + 1, sizeof *equals);
    for (size_t k = 0; k < task->input_count; k++) {
        inputs[k] = task->inputs[k];
        inputs[k].task = moved(made, inputs[k].task);
    }
    for (size_t k = 0; k < task->equal_count; k++)
        equals[k] = moved(made, task->equals[k]);
    task->inputs = inputs;
    task->equals = equals;
    task->rows_from = moved(made, task->rows_from);
}

bool fold_axes(const struct queue *fused, struct queue *folded)
{
    struct arena *arena = fused->arena;
    struct axis *axes = arena_array(arena, fused->count + 1, sizeof *axes);
    struct task **made = arena_array(arena, fused->count + 1, sizeof *made);
    bool *dropped = arena_array(arena, fused->count + 1, sizeof *dropped);
    bool any = false;
    for (size_t t = 0; t < fused->count; t++) {
        if (!find_axis(fused, fused->tasks[t], &axes[t])) {
            axes[t] = (struct axis){0};
            continue;
        }
        dropped[axes[t].producer->number] = true;
        any = true;
    }
    for (size_t t = 0; t < fused->count && any; t++) {
        if (dropped[t])
            continue;
        struct task *task = made[t] = queue_add(folded);
        const size_t number = task->number;
        if (axes[t].reduction) {
            make_fold(task, &axes[t], arena);
        } else {
            *task = *fused->tasks[t];
            task->number = number;
        }
        task_move_references(task, made, arena);
    }
    assert(!any || queue_is_valid(folded, "fold_axes"));
    return any;
}
