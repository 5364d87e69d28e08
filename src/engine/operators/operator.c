#include "engine/operators/operator.h"

#include "engine/operators/operator_kinds.h"

enum status host_operator_run_pool(const struct operator_job *job, struct thread_pool *thread_pool, bool *flagged)
{
    static operator_fn *const table[] = {
        [OPERATOR_SCAN] = operator_scan,
        [OPERATOR_SORT] = operator_sort,
        [OPERATOR_GROUP] = operator_group,
        [OPERATOR_DISTINCT] = operator_distinct,
        [OPERATOR_SCATTER] = operator_scatter,
        [OPERATOR_MOVING] = operator_moving,
        [OPERATOR_APPEND] = operator_append,
        [OPERATOR_EXPAND] = operator_expand,
        [OPERATOR_PARTITION] = operator_partition,
        [OPERATOR_HIST] = operator_hist,
        [OPERATOR_IDS] = operator_ids,
        [OPERATOR_COMBINE] = operator_combine,
    };
    struct workers workers = {.threads = thread_pool_threads(thread_pool),
                              .thread_pool = thread_pool,
                              .cancel = job->cancel,
                              .progress = job->progress,
                              .whole = job->whole,
                              .pool = job->pool};
    return table[job->task->column_op->kind](job, &workers, flagged);
}

enum status host_operator_run_threads(const struct operator_job *job, int threads, bool *flagged)
{
    struct thread_pool *thread_pool = thread_pool_new(threads);
    const enum status status = host_operator_run_pool(job, thread_pool, flagged);
    thread_pool_free(thread_pool);
    return status;
}

enum status host_operator_run(const struct operator_job *job, bool *flagged)
{
    return host_operator_run_threads(job, parallel_threads(), flagged);
}
