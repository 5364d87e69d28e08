/* Limit pushdown: a sort followed by `take` need not order the rows behind, and a group need not find them. */
#include "engine/optimize/passes.h"

/* Of each input, whether the task reads other rows of it than its own. */
static bool *inputs_elsewhere(const struct task *task, struct arena *arena)
{
    bool *elsewhere = arena_array(arena, task->input_count + 1, sizeof *elsewhere);
    for (size_t k = 0; k < task->input_count; k++)
        elsewhere[k] = task->inputs[k].whole;
    for (value v = 0; v < task->code.count; v++) {
        const struct instr *instr = &task->code.at[v];
        if (instr->op == OP_INPUT && instr->offset != 0 && instr->integer >= 0)
            elsewhere[instr->integer] = true;
    }
    return elsewhere;
}

/* One past the last row the task reads; INT64_MAX if only known when it runs. */
static int64_t rows_end(const struct task *task)
{
    const int64_t rows = task->rows >= 0 ? task->rows : task->limit;
    return task->first > INT64_MAX - rows ? INT64_MAX : task->first + rows;
}

static void extend_end(int64_t *ends, const struct task *from, int64_t end)
{
    if (from && ends[from->number] < end)
        ends[from->number] = end;
}

static bool is_ordered(const struct column_operator *column_op)
{
    return column_op->kind == OPERATOR_SORT || (column_op->kind == OPERATOR_GROUP && !column_op->key);
}

void push_limits(const struct queue *fused)
{
    int64_t *ends = arena_array(fused->arena, fused->count + 1, sizeof *ends);
    for (size_t t = 0; t < fused->count; t++) {
        ends[t] = -1; /* not read */
        const struct task *task = fused->tasks[t];
        const int64_t end = task->sink == SINK_OPERATOR ? INT64_MAX : rows_end(task);
        const bool *elsewhere = inputs_elsewhere(task, fused->arena);
        for (size_t k = 0; k < task->input_count; k++)
            extend_end(ends, task->inputs[k].task, elsewhere[k] ? INT64_MAX : end);
        /* Row counts that are compared must be complete. */
        extend_end(ends, task->rows_from, task->equal_count > 0 ? INT64_MAX : end);
        for (size_t i = 0; i < task->equal_count; i++)
            extend_end(ends, task->equals[i], INT64_MAX);
    }
    for (size_t t = 0; t + 1 < fused->count; t++) { /* the last task is the result */
        const struct task *task = fused->tasks[t];
        const int64_t rows = task->rows >= 0 ? task->rows : INT64_MAX;
        if (task->sink == SINK_OPERATOR && is_ordered(task->column_op) && ends[t] >= 0 && ends[t] < rows)
            task->column_op->first = ends[t] > 0 ? ends[t] : 1;
    }
}
