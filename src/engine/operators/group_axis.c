#include "engine/operators/group_axis.h"

#include "engine/operators/elements.h"

enum { KEY, RESULT }; /* outputs */

static int64_t group_length(const struct break_job *job)
{
    const struct breaker *breaker = job->task->breaker;
    return breaker->segment > 0 ? breaker->segment : job->rows / breaker->stride;
}

static const struct column *column_of(const struct break_job *job)
{
    const struct aggregate *aggregate = &job->task->aggregates[0];
    return aggregate->value == NO_VALUE ? NULL : break_input(job, aggregate->value);
}

bool along_takes(const struct break_job *job)
{
    const struct task *task = job->task;
    const struct breaker *breaker = task->breaker;
    struct tally tally;
    if ((breaker->segment == 0 && breaker->stride == 1) || task->outputs[KEY].needed || !task->outputs[RESULT].needed)
        return false;
    if (!tally_for(task->aggregates[0].kind, column_of(job), group_length(job), &tally))
        return false;
    return breaker->segment > 0 || along_cols_takes(&tally);
}

static enum status fill_counts(const struct along *along)
{
    int64_t *counts = column_at(along->result, 0);
    for (int64_t i = 0; i < along->groups; i++)
        counts[i] = along->length;
    return STATUS_OK;
}

enum status along_run(const struct break_job *job, const struct crew *crew, _Atomic bool *flagged)
{
    struct along along = {
        .job = job,
        .crew = crew,
        .aggregate = &job->task->aggregates[0],
        .column = column_of(job),
        .length = group_length(job),
        .flagged = flagged,
    };
    const enum type type = job->task->outputs[RESULT].type;
    along.groups = job->rows / along.length;
    tally_for(along.aggregate->kind, along.column, along.length, &along.tally);
    along.result = job->results[RESULT] = column_reserve_from(job->pool, type, type, along.groups);
    if (!along.result)
        return STATUS_FAILED;
    *job->result_rows = along.groups;
    if (!along.column)
        return fill_counts(&along);
    return job->task->breaker->segment > 0 ? along_rows(&along) : along_cols(&along);
}
