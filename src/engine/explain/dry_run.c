#include "engine/explain/dry_run.h"

#include "engine/task/input_columns.h"

void dry_run_init(struct dry_run *dry_run, const struct queue *queue)
{
    *dry_run = (struct dry_run){.queue = queue};
    dry_run->columns = arena_array(queue->arena, queue->count + 1, sizeof *dry_run->columns);
    dry_run->most = arena_array(queue->arena, queue->count + 1, sizeof *dry_run->most);
}

void dry_run_release(struct dry_run *dry_run)
{
    for (size_t t = 0; t < dry_run->queue->count; t++) {
        for (size_t k = 0; dry_run->columns[t] && k < dry_run->queue->tasks[t]->output_count; k++)
            column_unref(dry_run->columns[t][k]);
    }
}

/* The task's inputs in order. */
static struct column **input_columns(const struct dry_run *dry_run, const struct task *task)
{
    struct column **columns = arena_array(dry_run->queue->arena, task->input_count + 1, sizeof *columns);
    for (size_t k = 0; k < task->input_count; k++) {
        const struct input *input = &task->inputs[k];
        columns[k] = input->column ? input->column : dry_run->columns[input->task->number][input->output];
    }
    return columns;
}

static int64_t max_rows(const struct dry_run *dry_run, const struct task *task)
{
    if (task->rows >= 0)
        return task->rows;
    int64_t most = task->rows_from ? dry_run->most[task->rows_from->number] : INT64_MAX;
    most = most > task->first ? most - task->first : 0;
    return most < task->limit ? most : task->limit;
}

/* An operator that moves rows keeps their stored type; aggregates have the type of their output. */
static enum type store_of(const struct task *task, const struct output *output, struct column *const *columns)
{
    if (task->sink == SINK_ROWS)
        return output_store(task, output, columns);
    return task->sink == SINK_OPERATOR && operator_carries(task->column_op)
               ? columns[task->code.at[output->value].integer]->store
               : output->type;
}

enum status dry_run_outputs(struct dry_run *dry_run, const struct task *task, struct column *const *columns,
                            struct diags *diags)
{
    struct column **outputs = arena_array(dry_run->queue->arena, task->output_count + 1, sizeof *outputs);
    dry_run->columns[task->number] = outputs;
    for (size_t k = 0; k < task->output_count; k++) {
        const struct output *output = &task->outputs[k];
        if (!output->needed)
            continue;
        outputs[k] = column_without_rows(output->type, store_of(task, output, columns));
        if (!outputs[k])
            return diag_error(diags, task->span, "out of memory");
    }
    return STATUS_OK;
}

const struct task *dry_run_task(struct dry_run *dry_run, const struct runner *runner, const struct task *task,
                                struct column *const **named, struct column *const **columns)
{
    const int64_t most = dry_run->most[task->number] = max_rows(dry_run, task);
    *named = input_columns(dry_run, task);
    return task_specialise(runner, task, *named, most, dry_run->queue->arena, columns);
}
