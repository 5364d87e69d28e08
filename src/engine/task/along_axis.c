
#include "engine/operators/axis_reduction.h"
#include "engine/task/run_task.h"

static size_t aggregated_input(const struct task *group)
{
    return (size_t)group->code.at[group->aggregates[0].value].integer;
}

bool is_along_axis(const struct runner *runner, const struct task *task, const struct task *group)
{
    const struct column_operator *column_op = group->column_op;
    if (!task_aggregates_axis(group))
        return false;
    const enum aggregate_kind kind = group->aggregates[0].kind;
    const struct input *key = &group->inputs[column_op->keys[0]], *aggregated = &group->inputs[aggregated_input(group)];
    return aggregate_table[kind].along && column_op->key_count == 1 && key->task == task &&
           (aggregated->task == task || task->filter_count == 0) &&
           (!runner->device || runner->device == runner->evaluator) && !runs_on_gpu(runner);
}

/* The task's output `wanted` alone. */
static enum status run_output(const struct runner *host, const struct task *task, struct column *const *inputs,
                              int64_t rows, size_t wanted, struct outcome *computed, struct diags *diags)
{
    struct task *only = task_clone(task, diags->arena);
    struct diags attempt;
    diags_init(&attempt, diags->arena);
    for (size_t k = 0; k < only->output_count; k++)
        only->outputs[k].needed = k == wanted;
    const enum status status = run_task(host, only, inputs, rows, DEFER_NEVER, diags->arena, computed, &attempt);
    if (computed->flagged)
        return STATUS_UNABLE;
    diags_append(diags, &attempt);
    return status;
}

enum status run_along_axis(const struct runner *runner, const struct task *task, struct column *const *inputs,
                           int64_t rows, const struct task *group, struct column *const *others, int64_t *passed,
                           struct outcome *outcome, struct diags *diags)
{
    const size_t read = aggregated_input(group);
    const struct input *aggregated = &group->inputs[read];
    struct task *lines = task_clone(group, diags->arena);
    struct column **columns = arena_array(diags->arena, group->input_count, sizeof *columns);
    struct outcome computed = {.rows = rows};
    struct runner host = *runner;
    host.device = NULL;
    host.chooser = NULL;
    enum status status = STATUS_OK;
    if (aggregated->task == task)
        status = run_output(&host, task, inputs, rows, aggregated->output, &computed, diags);
    if (status != STATUS_OK)
        return status;
    columns[read] = aggregated->task == task ? computed.columns[aggregated->output] : others[read];
    for (size_t k = 0; k < lines->input_count; k++)
        lines->inputs[k].needed = k == read;
    const struct operator_job job = {.task = lines, .inputs = columns, .rows = computed.rows};
    status = computed.rows > 0 && axis_supports(&job)
                 ? run_operator(&host, lines, columns, computed.rows, outcome, diags)
                 : STATUS_UNABLE;
    *passed = computed.rows;
    outcome_release(&computed, task);
    if (status != STATUS_OK || outcome->flagged)
        outcome_release(outcome, group);
    return status == STATUS_OK && outcome->flagged ? STATUS_UNABLE : status;
}
