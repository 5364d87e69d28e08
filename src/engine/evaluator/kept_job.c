#include "engine/evaluator/kept_job.h"

#include "base/integer.h"
#include "base/timing.h"
#include "engine/evaluator/worker.h"
#include "engine/storage/residency.h"

enum {
    ALONE_ROWS = 16 * BLOCK_ROWS, /* waking another thread costs as much as these rows */
    PIECE_ROWS = 8 * BLOCK_ROWS,
    LEAST_ROWS = 256,  /* of a piece of rows that take long, */
    LONG_NS = 500000,  /* as long as this for one thread; */
    THREAD_PIECES = 4, /* then there are so many pieces for each thread */
};

void kept_job_run_piece(struct kept_member *member, int64_t begin, int64_t count)
{
    const struct kept_job *kept = member->kept;
    const struct program *program = kept->program;
    if (!kept->columns) {
        worker_aggregate(member->worker, begin, count, member->states);
        return;
    }
    for (size_t i = 0; i < program->output_count; i++)
        member->destinations[i] = column_at(kept->columns[program->outputs[i].output], begin);
    (void)worker_rows(member->worker, begin, count, member->destinations);
}

static void work(void *context, int number)
{
    struct kept_member *member = (struct kept_member *)context + number;
    struct kept_job *kept = member->kept;
    while (!kept->flagged && !kept->cancelled) {
        const int64_t begin = atomic_fetch_add(&kept->next, 1) * kept->piece_rows;
        if (begin >= kept->job.rows)
            break;
        if (kept->job.cancel && *kept->job.cancel)
            kept->cancelled = true;
        else
            kept_job_run_piece(member, begin, min_int64(kept->job.rows - begin, kept->piece_rows));
        if (worker_flagged(member->worker))
            kept->flagged = true;
    }
}

/* Makes it a job of so many threads. */
static void open_members(struct kept_job *kept, int threads)
{
    const struct program *program = kept->program;
    kept->members =
        arena_grow(kept->arena, kept->members, (size_t)kept->threads, (size_t)threads, sizeof *kept->members);
    for (int i = kept->threads; i < threads; i++) {
        struct kept_member *member = &kept->members[i];
        member->kept = kept;
        member->arena = arena_new();
        member->worker = worker_new(program, member->arena);
        member->worker->cached = program_bytes_read(program) <= CACHED_BYTES;
        member->states = arena_array(member->arena, program->aggregate_count + 1, sizeof *member->states);
        member->destinations = arena_array(member->arena, program->output_count + 1, sizeof *member->destinations);
    }
    kept->threads = threads;
}

/* Few rows may take long, as those that fold over many elements: how long they took for one thread tells. */
static void split_if_long(struct kept_job *kept, int64_t taken)
{
    const int threads = thread_pool_threads(kept->pool);
    const int64_t rows = kept->job.rows / ((int64_t)threads * THREAD_PIECES) / LEAST_ROWS * LEAST_ROWS;
    if (taken < LONG_NS || threads == 1 || kept->job.rows < (int64_t)2 * LEAST_ROWS)
        return;
    kept->piece_rows = max_int64(rows, LEAST_ROWS);
    open_members(kept, threads);
}

struct kept_job *kept_job_new(const struct job *job, struct column *const *columns, struct thread_pool *pool)
{
    const struct task *task = job->task;
    if (task->filter_count > 0 || task_has_window(task) || task->sink == SINK_OPERATOR)
        return NULL;
    for (size_t i = 0; i < task->aggregate_count; i++) {
        if (aggregate_in_order(&task->aggregates[i], &task->code) || task->aggregates[i].kind == AGG_FOLD)
            return NULL;
    }
    if (columns_fetch(job->columns, task->input_count, job->cancel, task->span, job->diags) != STATUS_OK)
        return NULL;
    struct arena *arena = arena_new();
    struct kept_job *kept = arena_alloc(arena, sizeof *kept);
    kept->arena = arena;
    kept->job = *job;
    kept->job.timing = NULL;
    kept->job.progress = NULL;
    kept->job.keeps = true;
    kept->columns = columns;
    kept->pool = pool;
    kept->program = program_new(&kept->job, columns, arena);
    const int threads = job->rows <= ALONE_ROWS ? 1 : thread_pool_threads(pool);
    kept->piece_rows = threads == 1 ? max_int64(job->rows, 1) : PIECE_ROWS;
    open_members(kept, threads);
    return kept;
}

enum status kept_job_run(struct kept_job *kept, struct agg_state *states, bool *flagged)
{
    const struct task *task = kept->job.task;
    kept->next = 0;
    kept->flagged = kept->cancelled = false;
    for (int i = 0; i < kept->threads; i++) {
        kept->members[i].worker->flagged = false;
        for (size_t k = 0; states && k < task->aggregate_count; k++)
            agg_init(&kept->members[i].states[k], &task->aggregates[k], &task->code);
    }
    const int threads = kept->threads;
    /* Looking at the clock takes as long as some rows: only in runs 1, 2, 4, 8, ... */
    kept->runs++;
    const bool timed = threads == 1 && (kept->runs & (kept->runs - 1)) == 0;
    const int64_t began = timed ? now_ns() : 0;
    if (threads == 1)
        work(kept->members, 0);
    else
        thread_pool_run(kept->pool, threads, work, kept->members);
    for (int i = 0; i < threads && states; i++) {
        for (size_t k = 0; k < task->aggregate_count; k++)
            agg_merge(&states[k], &kept->members[i].states[k]);
    }
    *flagged = kept->flagged;
    if (timed)
        split_if_long(kept, now_ns() - began);
    /* A loop ends early then. */
    const bool cancelled = kept->cancelled || (kept->job.cancel && *kept->job.cancel);
    return cancelled ? STATUS_CANCELLED : STATUS_OK;
}

void kept_job_free(struct kept_job *kept)
{
    for (int i = 0; kept && i < kept->threads; i++)
        arena_free(kept->members[i].arena);
    if (kept)
        arena_free(kept->arena);
}
