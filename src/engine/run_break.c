#include "run_break.h"

#include "stages.h"

/* The column whose elements an output's are, or NULL. */
static const struct column *carried(const struct task *task, const struct output *output, struct column *const *inputs)
{
    return breaker_carries(task->breaker) ? inputs[task->code.at[output->value].integer] : NULL;
}

/* A column moved is stored as it was; in the rows that scatter leaves out there are zeroes. */
static struct column *reserve(const struct task *task, const struct output *output, struct column *const *inputs,
                              int64_t rows)
{
    const struct column *from = carried(task, output, inputs);
    if (!from)
        return column_reserve(output->type, output->type, rows);
    struct column *column = column_reserve(output->type, from->store, rows);
    if (!column)
        return NULL;
    bool zeroes = task->breaker->kind == BREAK_SCATTER;
    column->range_known = from->range_known && from->rows > 0;
    column->lo = zeroes && from->lo > 0 ? 0 : from->lo;
    column->hi = zeroes && from->hi < 0 ? 0 : from->hi;
    return column;
}

static enum status make_results(const struct task *task, const struct break_job *job)
{
    for (size_t k = 0; k < task->output_count && *job->result_rows >= 0; k++) {
        if (!task->outputs[k].needed)
            continue;
        job->results[k] = reserve(task, &task->outputs[k], job->inputs, *job->result_rows);
        if (!job->results[k])
            return diag_error(job->diags, task->span, "not enough memory for a column of %lld rows",
                              (long long)*job->result_rows);
    }
    return STATUS_OK;
}

static enum status run_backends(const struct runner *runner, const struct break_job *job, bool *flagged)
{
    struct backend *device = runner->device, *evaluator = runner->evaluator;
    enum status status = STATUS_UNABLE;
    if (device && device->ops->breaker)
        status = device->ops->breaker(device, job, flagged);
    if (status == STATUS_UNABLE) {
        drop_repeated_note(job->diags);
        *flagged = false;
        status = evaluator->ops->breaker(evaluator, job, flagged);
    }
    return status;
}

enum status run_break(const struct runner *runner, const struct task *task, struct column *const *inputs, int64_t rows,
                      struct outcome *outcome, struct diags *diags)
{
    int64_t known = breaker_gives(task->breaker, rows);
    int64_t result_rows = known;
    struct break_job job = {
        .task = task,
        .inputs = inputs,
        .rows = rows,
        .results = outcome->columns,
        .result_rows = &result_rows,
        .hasty = runner->hasty,
        .timing = runner->timing,
        .progress = runner->progress,
        .cancel = runner->cancel,
        .diags = diags,
    };
    if (job.progress)
        job.whole = task_whole(task, inputs, rows, diags->arena);
    enum status status = make_results(task, &job);
    if (status == STATUS_OK)
        status = run_backends(runner, &job, &outcome->flagged);
    outcome->rows = result_rows;
    for (size_t k = 0; k < task->output_count && known >= 0 && status == STATUS_OK; k++) {
        if (outcome->columns[k])
            column_finish(outcome->columns[k], result_rows);
    }
    return status;
}
