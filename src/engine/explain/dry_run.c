#include "engine/explain/dry_run.h"

#include "engine/optimize/guard.h"
#include "engine/optimize/range_analysis.h"

void outlook_init(struct outlook *outlook, const struct queue *queue)
{
    *outlook = (struct outlook){.queue = queue};
    outlook->columns = arena_array(queue->arena, queue->count + 1, sizeof *outlook->columns);
    outlook->most = arena_array(queue->arena, queue->count + 1, sizeof *outlook->most);
}

void outlook_release(struct outlook *outlook)
{
    for (size_t t = 0; t < outlook->queue->count; t++) {
        for (size_t k = 0; outlook->columns[t] != NULL && k < outlook->queue->tasks[t]->output_count; k++)
            column_unref(outlook->columns[t][k]);
    }
}

/* The task's inputs in order. */
static struct column **input_columns(const struct outlook *outlook, const struct task *task)
{
    struct column **columns = arena_array(outlook->queue->arena, task->input_count + 1, sizeof *columns);
    for (size_t k = 0; k < task->input_count; k++) {
        const struct input *input = &task->inputs[k];
        columns[k] = input->column != NULL ? input->column : outlook->columns[input->task->number][input->output];
    }
    return columns;
}

static int64_t most_rows(const struct outlook *outlook, const struct task *task)
{
    if (task->rows >= 0)
        return task->rows;
    int64_t most = task->rows_from != NULL ? outlook->most[task->rows_from->number] : INT64_MAX;
    most = most > task->first ? most - task->first : 0;
    return most < task->limit ? most : task->limit;
}

/* What a breaker only moves stays as it was stored. */
static enum type store_of(const struct task *task, const struct output *output, struct column *const *columns)
{
    if (task->sink != SINK_BREAK)
        return range_store(task, output, columns);
    return breaker_carries(task->breaker) ? columns[task->code.at[output->value].integer]->store : output->type;
}

enum status outlook_pass(struct outlook *outlook, const struct task *task, struct column *const *columns,
                         struct diags *diags)
{
    struct column **outputs = arena_array(outlook->queue->arena, task->output_count + 1, sizeof *outputs);
    outlook->columns[task->number] = outputs;
    for (size_t k = 0; k < task->output_count && task->sink != SINK_AGGREGATE; k++) {
        const struct output *output = &task->outputs[k];
        if (!output->needed)
            continue;
        outputs[k] = column_reserve(output->type, store_of(task, output, columns), 0);
        if (outputs[k] == NULL)
            return diag_error(diags, task->span, "out of memory");
        column_finish(outputs[k], 0);
    }
    return STATUS_OK;
}

void outlook_analyse(const struct outlook *outlook, struct task *task, struct column *const *columns)
{
    if (task->sink == SINK_BREAK)
        return;
    range_analyse(task, columns, outlook->most[task->number]);
    guard_place(task);
}

struct column **outlook_inputs(struct outlook *outlook, struct task *task)
{
    struct column **columns = input_columns(outlook, task);
    outlook->most[task->number] = most_rows(outlook, task);
    outlook_analyse(outlook, task, columns);
    return columns;
}
