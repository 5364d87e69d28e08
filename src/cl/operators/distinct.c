/* Distinct: the device finds the first rows, the host gathers them from its columns. */
#include "cl/operators/first_rows.h"
#include "cl/operators/operator.h"

#include "base/parallel.h"
#include "engine/sorting/sort_keys.h"
#include "engine/storage/residency.h"

struct picking {
    const struct operator_job *job;
    const uint32_t *rows;
    struct parts parts;
};

static struct column *carried(const struct operator_job *job, size_t output)
{
    return job->inputs[job->task->code.at[job->task->outputs[output].value].integer];
}

static void pick_part(void *context, struct part part)
{
    const struct picking *picking = context;
    const struct operator_job *job = picking->job;
    uint64_t rows[KEY_BLOCK];
    for (int64_t at = part.begin; at < part.end; at += KEY_BLOCK) {
        const int count = part.end - at < KEY_BLOCK ? (int)(part.end - at) : KEY_BLOCK;
        for (int i = 0; i < count; i++)
            rows[i] = picking->rows[at + i];
        for (size_t k = 0; k < job->task->output_count; k++) {
            if (job->results[k])
                column_gather(carried(job, k), rows, count, column_at(job->results[k], at));
        }
    }
}

static struct column *make_result(const struct operator_job *job, size_t k, int64_t rows)
{
    return column_reserve_like(job->pool, carried(job, k), job->task->outputs[k].type, rows);
}

static enum status pick(const struct operator_job *job, const struct first_rows *found)
{
    enum { PART_ROWS = 1 << 15 };
    const struct workers workers = {.threads = parallel_threads(), .cancel = job->cancel};
    const enum status status =
        columns_fetch(job->inputs, job->task->input_count, job->cancel, job->task->span, job->diags);
    if (status != STATUS_OK)
        return status;
    struct picking picking = {job, found->rows->data, partition_rows(&workers, found->count, PART_ROWS)};
    *job->result_rows = found->count;
    for (size_t k = 0; k < job->task->output_count; k++) {
        if (!job->task->outputs[k].needed)
            continue;
        job->results[k] = make_result(job, k, found->count);
        if (!job->results[k])
            return STATUS_UNABLE;
    }
    if (!workers_run_parts(&workers, &picking.parts, pick_part, &picking))
        return STATUS_CANCELLED;
    for (size_t k = 0; k < job->task->output_count; k++) {
        if (job->results[k])
            column_finish(job->results[k], found->count);
    }
    return STATUS_OK;
}

static void drop_results(const struct operator_job *job)
{
    for (size_t k = 0; k < job->task->output_count; k++) {
        column_unref(job->results[k]);
        job->results[k] = NULL;
    }
}

enum status cl_distinct(struct accelerator *accelerator, const struct operator_job *job, bool *flagged)
{
    (void)flagged;
    const struct task *task = job->task;
    struct column **columns = arena_array(job->diags->arena, task->output_count + 1, sizeof *columns);
    struct group_keys group_keys;
    struct first_rows found;
    for (size_t k = 0; k < task->output_count; k++)
        columns[k] = carried(job, k);
    if (job->rows == 0 || !accelerator->config->shared_tables ||
        !columns_fit(accelerator, columns, task->output_count, job->rows))
        return STATUS_UNABLE;
    enum status status = group_keys_find(&group_keys, accelerator, job, columns, task->output_count);
    if (status != STATUS_OK)
        return status;
    first_rows_find(&found, accelerator, job, &group_keys, job->rows);
    if (!operator_stopped(&found.run))
        status = pick(job, &found);
    const enum status end = first_rows_end(&found);
    status = end == STATUS_OK ? status : end;
    if (status != STATUS_OK)
        drop_results(job);
    return status;
}
