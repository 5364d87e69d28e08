#include "engine/operators/axis_reduction.h"

#include "engine/operators/elements.h"

enum { KEY, RESULT }; /* outputs */

static int64_t group_length(const struct operator_job *job)
{
    const struct operator* operator= job->task->operator;
    return operator->segment> 0 ? operator->segment : job->rows / operator->stride;
}

static const struct column *column_of(const struct operator_job *job)
{
    const struct aggregate *aggregate = &job->task->aggregates[0];
    return aggregate->value == NO_VALUE ? NULL : operator_input(job, aggregate->value);
}

bool axis_takes(const struct operator_job *job)
{
    const struct task *task = job->task;
    const struct operator* operator= task->operator;
    struct group_aggregate group_agg;
    if ((operator->segment == 0 && operator->stride == 1) || task->outputs[KEY].needed || !task->outputs[RESULT].needed)
        return false;
    if (!group_aggregate_for(task->aggregates[0].kind, column_of(job), group_length(job), &group_agg))
        return false;
    return operator->segment> 0 || axis_cols_takes(&group_agg);
}

static enum status fill_counts(const struct axis_reduction *along)
{
    int64_t *counts = column_at(along->result, 0);
    for (int64_t i = 0; i < along->groups; i++)
        counts[i] = along->length;
    return STATUS_OK;
}

enum status axis_run(const struct operator_job *job, const struct workers *workers, _Atomic bool *flagged)
{
    struct axis_reduction along = {
        .job = job,
        .workers = workers,
        .aggregate = &job->task->aggregates[0],
        .column = column_of(job),
        .length = group_length(job),
        .flagged = flagged,
    };
    const enum type type = job->task->outputs[RESULT].type;
    along.groups = job->rows / along.length;
    group_aggregate_for(along.aggregate->kind, along.column, along.length, &along.group_agg);
    along.result = job->results[RESULT] = column_reserve_from(job->pool, type, type, along.groups);
    if (!along.result)
        return STATUS_FAILED;
    *job->result_rows = along.groups;
    if (!along.column)
        return fill_counts(&along);
    return job->task->operator->segment> 0 ? axis_rows(&along) : axis_cols(&along);
}
