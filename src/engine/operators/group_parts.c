/* A group of more rows than memory has room for. */
#include "engine/operators/group_by.h"

#include "base/buffer_pool.h"
#include "base/heap.h"
#include "engine/sorting/row_parts.h"

#include <stdlib.h>

/* Results that grow, part by part. */
struct growing {
    const struct operator_job *job;
    int64_t groups, capacity;
    int64_t rows; /* that they are of */
};

/* Room for as many groups more: as many as there will be if the other parts are like these. */
static bool reserve(struct growing *growing, int64_t more)
{
    const struct operator_job *job = growing->job;
    const int64_t needed = growing->groups + more;
    if (needed <= growing->capacity)
        return true;
    const double like_these = (double)needed / (double)growing->rows * (double)job->rows * 1.1;
    const int64_t capacity = like_these < (double)job->rows ? (int64_t)like_these : job->rows;
    growing->capacity = capacity > needed ? capacity : needed;
    for (size_t k = 0; k < job->task->output_count; k++) {
        struct column *before = job->results[k];
        if (!job->task->outputs[k].needed)
            continue;
        struct column *after = group_result_reserve(job, k, growing->capacity);
        if (!after)
            return false;
        if (before)
            buffer_pool_write(job->pool, column_at(after, 0), before->data,
                              (size_t)growing->groups * type_table[before->store].size);
        column_unref(before);
        job->results[k] = after;
    }
    return true;
}

/* Adds a part's groups, and releases them. */
static bool append(struct growing *growing, const struct operator_job *part, int64_t groups)
{
    const struct operator_job *job = growing->job;
    growing->rows += part->rows;
    const bool reserved = reserve(growing, groups);
    for (size_t k = 0; k < job->task->output_count; k++) {
        if (reserved && job->task->outputs[k].needed && groups > 0)
            buffer_pool_write(job->pool, column_at(job->results[k], growing->groups), part->results[k]->data,
                              (size_t)groups * type_table[job->results[k]->store].size);
        column_unref(part->results[k]);
        part->results[k] = NULL;
    }
    growing->groups += groups;
    return reserved;
}

static enum status take_part(struct growing *growing, const struct operator_job *part, const struct workers *workers,
                             group_fn *group, bool *flagged)
{
    struct grouped grouped = {.job = part};
    const enum status status = group(&grouped, workers);
    grouped_finish_results(&grouped, status, flagged);
    grouped_free(&grouped);
    return status == STATUS_OK && !*flagged && !append(growing, part, *part->result_rows) ? STATUS_FAILED : status;
}

enum status group_in_parts(struct grouped *grouped, int64_t row_bytes, const struct workers *workers, group_fn *group)
{
    const struct operator_job *job = grouped->job;
    const size_t inputs = job->task->input_count;
    struct row_parts parts;
    struct growing growing = {.job = job};
    struct operator_job part = *job;
    struct column **columns = heap_array(inputs + 1, sizeof *columns);
    int64_t groups = 0;
    bool flagged = false;
    part.inputs = columns;
    part.results = heap_array(job->task->output_count, sizeof *part.results);
    part.result_rows = &groups;
    enum status status = row_parts_make(&parts, &grouped->word.keys, job->rows, row_bytes, workers,
                                        (const struct column *const *)job->inputs, inputs, false);
    for (int64_t i = 0; i < parts.count && status == STATUS_OK && !flagged; i++) {
        part.rows = row_parts_open(&parts, i);
        for (size_t k = 0; k < inputs; k++)
            columns[k] = job->inputs[k] ? row_parts_column(&parts, job->inputs[k]) : NULL;
        if (part.rows > 0)
            status = take_part(&growing, &part, workers, group, &flagged);
    }
    row_parts_free(&parts);
    free(part.results);
    free(columns);
    *job->result_rows = growing.groups;
    if (flagged)
        grouped->flagged = true;
    return status;
}
