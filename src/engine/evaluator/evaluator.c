/* The evaluator as a backend. */
#include "engine/evaluator/evaluator.h"

#include "base/heap.h"
#include "base/thread_pool.h"
#include "engine/evaluator/pieces.h"
#include "engine/operators/operator.h"
#include "engine/plan/task_title.h"
#include "engine/storage/residency.h"

#include <sched.h>
#include <stdlib.h>

enum { MAX_THREADS = 64 }; /* more do not raise memory bandwidth */

struct evaluator {
    struct backend base;
    int threads;
    struct thread_pool *thread_pool;
};

static enum readiness evaluator_begin(struct backend *backend, const struct job *job)
{
    if (!job)
        thread_pool_wake(((struct evaluator *)backend)->thread_pool);
    return BACKEND_READY;
}

static enum status evaluator_prepare(struct backend *backend, const struct job *job)
{
    (void)backend;
    (void)job;
    return STATUS_OK;
}

static int64_t evaluator_range_rows(struct backend *backend, const struct job *job)
{
    (void)backend;
    (void)job;
    return INT64_MAX;
}

static enum status fetch_inputs(const struct task *task, struct column *const *columns, const atomic_int *cancel,
                                struct diags *diags)
{
    return columns_fetch(columns, task->input_count, cancel, task->span, diags);
}

static enum status evaluator_aggregate(struct backend *backend, const struct job *job, struct agg_state *states,
                                       bool *flagged)
{
    const enum status status = fetch_inputs(job->task, job->columns, job->cancel, job->diags);
    if (status != STATUS_OK)
        return status;
    const struct evaluator *evaluator = (const struct evaluator *)backend;
    return run_pieces(evaluator->thread_pool, evaluator->threads, job, states, NULL, flagged);
}

static enum status evaluator_rows(struct backend *backend, const struct job *job, struct row_sink *sink, bool *flagged)
{
    const enum status status = fetch_inputs(job->task, job->columns, job->cancel, job->diags);
    if (status != STATUS_OK)
        return status;
    const struct evaluator *evaluator = (const struct evaluator *)backend;
    return run_pieces(evaluator->thread_pool, evaluator->threads, job, NULL, sink, flagged);
}

static struct group_stream *evaluator_open_group(struct backend *backend, const struct operator_job *job)
{
    return group_rows_open(job, ((const struct evaluator *)backend)->thread_pool);
}

static enum status evaluator_group(struct backend *backend, const struct job *job, struct group_stream *stream,
                                   bool *flagged)
{
    const enum status status = fetch_inputs(job->task, job->columns, job->cancel, job->diags);
    if (status != STATUS_OK)
        return status;
    return group_rows_run(job, stream, ((const struct evaluator *)backend)->thread_pool, flagged);
}

static struct backend_rounds *evaluator_open_rounds(struct backend *backend, const struct rounds_job *job)
{
    return host_rounds_open(job, ((const struct evaluator *)backend)->thread_pool);
}

static enum status evaluator_run_operator(struct backend *backend, const struct operator_job *job, bool *flagged)
{
    const struct evaluator *evaluator = (const struct evaluator *)backend;
    enum status status = fetch_inputs(job->task, job->inputs, job->cancel, job->diags);
    if (status != STATUS_OK)
        return status;
    const int64_t started = now_ns();
    status = host_operator_run_pool(job, evaluator->thread_pool, flagged);
    timing_add(job->timing, PHASE_KERNEL, stages_title(job->task, job->diags->arena), now_ns() - started, 0);
    return status;
}

static const char *evaluator_source(struct backend *backend, const struct job *job)
{
    (void)backend;
    (void)job;
    return NULL;
}

static enum readiness evaluator_profile(struct backend *backend, bool wait, struct profile *profile)
{
    (void)wait;
    const struct evaluator *evaluator = (const struct evaluator *)backend;
    *profile = (struct profile){.class = CLASS_EVALUATOR, .identity = "host", .units = evaluator->threads};
    return BACKEND_READY;
}

static void evaluator_sweep(struct backend *backend)
{
    (void)backend;
}

static void evaluator_close(struct backend *backend)
{
    thread_pool_free(((struct evaluator *)backend)->thread_pool);
    free(backend);
}

struct backend *evaluator_open_threads(int threads)
{
    static const struct backend_ops ops = {
        .begin = evaluator_begin,
        .prepare = evaluator_prepare,
        .range_rows = evaluator_range_rows,
        .aggregate = evaluator_aggregate,
        .rows = evaluator_rows,
        .open_group = evaluator_open_group,
        .group = evaluator_group,
        .open_rounds = evaluator_open_rounds,
        .run_rounds = host_rounds_run,
        .finish_rounds = host_rounds_finish,
        .close_rounds = host_rounds_close,
        .run_operator = evaluator_run_operator,
        .source = evaluator_source,
        .profile = evaluator_profile,
        .sweep = evaluator_sweep,
        .close = evaluator_close,
    };
    struct evaluator *evaluator = heap_array(1, sizeof *evaluator);
    evaluator->base = (struct backend){.ops = &ops, .name = "host"};
    evaluator->threads = threads < MAX_THREADS ? threads : MAX_THREADS;
    evaluator->thread_pool = thread_pool_new(evaluator->threads);
    return &evaluator->base;
}

struct backend *evaluator_open(void)
{
    cpu_set_t usable;
    const bool known = sched_getaffinity(0, sizeof usable, &usable) == 0;
    return evaluator_open_threads(known ? CPU_COUNT(&usable) : 1);
}
