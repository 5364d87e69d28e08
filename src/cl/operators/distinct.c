/* Distinct: the device finds the first rows, the host gathers them from its columns. */
#include "cl/operators/first_rows.h"

#include "base/parallel.h"
#include "cl/operators/operator.h"
#include "engine/storage/residency.h"

static enum status pick(const struct operator_job *job, const struct first_rows *found, struct column *const *columns)
{
    const struct workers workers = {.threads = parallel_threads(), .cancel = job->cancel};
    const enum status status =
        columns_fetch(job->inputs, job->task->input_count, job->cancel, job->task->span, job->diags);
    if (status != STATUS_OK)
        return status;
    *job->result_rows = found->count;
    for (size_t k = 0; k < job->task->output_count; k++) {
        const struct output *output = &job->task->outputs[k];
        job->results[k] =
            output->needed ? column_reserve_like(job->pool, columns[k], output->type, found->count) : NULL;
        if (output->needed && !job->results[k])
            return STATUS_UNABLE;
    }
    return gather_listed(&workers, found->rows, columns, job->results, job->task->output_count);
}

enum status cl_distinct(struct accelerator *accelerator, const struct operator_job *job, bool *flagged)
{
    (void)flagged;
    const struct task *task = job->task;
    struct column **columns = arena_array(job->diags->arena, task->output_count + 1, sizeof *columns);
    struct group_keys group_keys;
    struct first_rows found;
    for (size_t k = 0; k < task->output_count; k++)
        columns[k] = operator_input(job, task->outputs[k].value);
    if (job->rows == 0 || !accelerator->config->shared_tables ||
        !columns_fit(accelerator, columns, task->output_count, job->rows))
        return STATUS_UNABLE;
    enum status status = group_keys_find(&group_keys, accelerator, job, columns, task->output_count);
    if (status != STATUS_OK)
        return status;
    first_rows_find(&found, accelerator, job, &group_keys, job->rows);
    first_rows_fetch(&found);
    if (!operator_stopped(&found.run))
        status = pick(job, &found, columns);
    const enum status end = first_rows_end(&found);
    status = end == STATUS_OK ? status : end;
    if (status != STATUS_OK)
        columns_finish(job->results, task->output_count, 0, false);
    return status;
}
