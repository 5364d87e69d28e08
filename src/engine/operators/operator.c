#include "engine/operators/operator.h"

enum status host_operator_run_pool(const struct operator_job *job, struct thread_pool *thread_pool, bool *flagged)
{
    static operator_fn *const functions[] = {
#define OPERATOR(kind, name, outputs, rows, words, host, ...) [OPERATOR_##kind] = host,
#include "engine/plan/operators.def"
    };
    struct workers workers = {.threads = thread_pool_threads(thread_pool),
                              .thread_pool = thread_pool,
                              .cancel = job->cancel,
                              .progress = job->progress,
                              .whole = job->whole,
                              .pool = job->pool};
    return functions[job->task->column_op->kind](job, &workers, flagged);
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
