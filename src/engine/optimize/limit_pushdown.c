/* How many of a sort's rows are read: what comes before a `take` in the pipeline need not order the others. */
#include "engine/optimize/passes.h"

/* Whether the task reads elements of the input that are not in its own row. */
static bool reads_elsewhere(const struct task *task, size_t input)
{
    bool elsewhere = task->inputs[input].whole;
    for (value v = 0; v < task->code.count && !elsewhere; v++) {
        const struct instr *instr = &task->code.at[v];
        elsewhere = instr->op == OP_INPUT && instr->integer == (int64_t)input && instr->offset != 0;
    }
    return elsewhere;
}

/* The first row behind all that the task reads; INT64_MAX if only running it will tell. */
static int64_t rows_end(const struct task *task)
{
    int64_t rows = task->rows >= 0 ? task->rows : task->limit;
    return task->first > INT64_MAX - rows ? INT64_MAX : task->first + rows;
}

static void read_by(int64_t *ends, const struct task *from, int64_t end)
{
    if (from != NULL && ends[from->number] < end)
        ends[from->number] = end;
}

void push_limits(const struct queue *fused)
{
    int64_t *ends = arena_array(fused->arena, fused->count + 1, sizeof *ends);
    for (size_t t = 0; t < fused->count; t++) {
        ends[t] = -1; /* nobody reads it */
        const struct task *task = fused->tasks[t];
        int64_t end = task->sink == SINK_OPERATOR ? INT64_MAX : rows_end(task);
        for (size_t k = 0; k < task->input_count; k++)
            read_by(ends, task->inputs[k].task, reads_elsewhere(task, k) ? INT64_MAX : end);
        /* Numbers of rows that are compared have to be those of all rows. */
        read_by(ends, task->rows_from, task->equal_count > 0 ? INT64_MAX : end);
        for (size_t i = 0; i < task->equal_count; i++)
            read_by(ends, task->equals[i], INT64_MAX);
    }
    for (size_t t = 0; t + 1 < fused->count; t++) { /* the last one's rows are the result */
        const struct task *task = fused->tasks[t];
        const int64_t rows = task->rows >= 0 ? task->rows : INT64_MAX;
        if (task->sink == SINK_OPERATOR && task->operator->kind == OPERATOR_SORT && ends[t] >= 0 && ends[t]<rows)
            task->operator->first = ends[t]> 0 ? ends[t] : 1;
    }
}
