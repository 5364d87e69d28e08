/* The evaluator as a backend: a range of rows cut into pieces, which threads take in order.
 *
 * Results do not depend on the number of threads: partial aggregates are exact and merge in any order (but for those of
 * aggregate_in_order, which one thread computes, and folds, which are kept by piece), and pieces of filtered rows are
 * handed in by turns. The range may be of any size, since the interrupt is looked at before every piece. */
#include "engine/evaluator/evaluator.h"

#include "base/heap.h"
#include "base/nontemporal_copy.h"
#include "base/thread_pool.h"
#include "engine/evaluator/block.h"
#include "engine/evaluator/ordered_output.h"
#include "engine/operators/operator.h"
#include "engine/plan/task_title.h"
#include "engine/storage/residency.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    PIECE_ROWS = 16 * BLOCK_ROWS, /* long enough that taking pieces costs nothing */
    PIECE_BYTES = 4 << 20,        /* a piece of many columns is shorter, so that it does not leave a core's cache */
    MOST_THREADS = 64,            /* more do not make memory faster */
    PAST_CACHE_BYTES = 16 << 20,  /* half of what large caches hold: no next task would find the results there */
    MOST_WAITING = 4,             /* pieces that a thread does while another is still at one before them */
};

struct evaluator {
    struct backend base;
    int threads;
    struct thread_pool *thread_pool;
};

/* What the threads share. */
struct workers {
    const struct job *job;
    const struct program *program;
    const struct member *caller; /* of the thread that runs the statement */
    int64_t piece_rows;
    _Atomic int64_t next; /* piece to take */
    _Atomic bool stop;    /* no more pieces are wanted */
    _Atomic bool flagged;
    _Atomic bool cancelled;

    struct agg_state **partials; /* of each piece, where they must be merged in order; else NULL */

    /* Rows only. */
    struct row_sink *sink;
    bool filtered;
    bool past_cache;              /* the results are more than the caches hold */
    int64_t before;               /* rows in the sink when the range began */
    struct ordered_output *turns; /* of rows that are filtered by several threads; else NULL */
    _Atomic int64_t passed;       /* of rows that are filtered and not written */
};

/* Rows of a piece that was done before its turn. */
struct batch {
    int64_t piece, rows;
    void **buffers; /* one for each output */
};

struct member {
    struct workers *workers;
    struct arena *arena;
    struct worker *worker;
    struct agg_state *states; /* or, for rows: */
    void **places;            /* where each output goes */
    struct batch batches[MOST_WAITING];
    int oldest, waiting; /* of the batches, as a ring */
};

static void stop_crew(struct workers *workers)
{
    workers->stop = true;
    if (workers->turns)
        ordered_output_stop(workers->turns);
}

static void point_places(struct member *member, int64_t row)
{
    const struct workers *workers = member->workers;
    for (size_t i = 0; i < workers->program->output_count; i++)
        member->places[i] = column_at(workers->sink->columns[workers->program->outputs[i].output], row);
}

static void copy_out(const struct workers *workers, void *place, const void *buffer, size_t size)
{
    if (workers->past_cache)
        copy_nontemporal(place, buffer, size);
    else
        memcpy(place, buffer, size);
}

/* Hands in batches: those whose turn it is, and as many more as it takes until at most so many are waiting. */
static void hand_in(struct member *member, int most)
{
    struct workers *workers = member->workers;
    while (member->waiting > 0) {
        const struct batch *batch = &member->batches[member->oldest];
        if (!ordered_output_is(workers->turns, batch->piece) &&
            (member->waiting <= most || !ordered_output_await(workers->turns, batch->piece)))
            return;
        point_places(member, ordered_output_hand_in(workers->turns, batch->rows));
        for (size_t i = 0; i < workers->program->output_count && batch->rows > 0; i++)
            copy_out(workers, member->places[i], batch->buffers[i],
                     (size_t)batch->rows * workers->program->outputs[i].size);
        member->oldest = (member->oldest + 1) % MOST_WAITING;
        member->waiting--;
    }
}

/* A batch to be filled, after those that wait. */
static struct batch *next_batch(struct member *member)
{
    const struct workers *workers = member->workers;
    struct batch *batch = &member->batches[(member->oldest + member->waiting) % MOST_WAITING];
    if (batch->buffers)
        return batch;
    batch->buffers = arena_array(member->arena, workers->program->output_count, sizeof *batch->buffers);
    for (size_t i = 0; i < workers->program->output_count; i++)
        batch->buffers[i] =
            arena_aligned(member->arena, (size_t)workers->piece_rows * workers->program->outputs[i].size, CACHE_LINE);
    return batch;
}

/* Rows of which it is not known where they go before those of all pieces before them are. If these are in, rows are
 * written to their places at once. */
static void make_filtered(struct member *member, int64_t piece, int64_t begin, int64_t count)
{
    struct workers *workers = member->workers;
    hand_in(member, MOST_WAITING - 1);
    if (member->waiting == MOST_WAITING) /* stopped */
        return;
    if (ordered_output_is(workers->turns, piece)) {
        point_places(member, workers->turns->rows);
        int64_t rows = worker_rows(member->worker, begin, count, member->places, workers->past_cache);
        if (!worker_flagged(member->worker))
            ordered_output_hand_in(workers->turns, rows);
        return;
    }
    struct batch *batch = next_batch(member);
    batch->piece = piece;
    batch->rows = worker_rows(member->worker, begin, count, batch->buffers, false);
    member->waiting += !worker_flagged(member->worker);
}

static void make_rows(struct member *member, int64_t piece, int64_t begin, int64_t count)
{
    struct workers *workers = member->workers;
    if (workers->turns) {
        make_filtered(member, piece, begin, count);
        return;
    }
    if (workers->program->output_count == 0) {
        workers->passed += worker_rows(member->worker, begin, count, member->places, false);
        return;
    }
    point_places(member, workers->filtered ? workers->sink->rows : workers->before + begin - workers->job->begin);
    int64_t rows = worker_rows(member->worker, begin, count, member->places, workers->past_cache);
    if (workers->filtered) /* and alone, else there were turns */
        workers->sink->rows += rows;
}

/* Aggregates a piece: onto the member's states, or onto some of its own that are merged in the order of pieces. */
static void add_piece(struct member *member, int64_t piece, int64_t begin, int64_t count)
{
    const struct workers *workers = member->workers;
    const struct task *task = workers->job->task;
    struct agg_state *states = member->states;
    if (workers->partials) {
        states = arena_array(member->arena, task->aggregate_count, sizeof *states);
        for (size_t i = 0; i < task->aggregate_count; i++)
            agg_init(&states[i], &task->aggregates[i], &task->code);
        workers->partials[piece] = states;
    }
    worker_aggregate(member->worker, begin, count, states);
}

/* Pieces begun count as done: they end soon. */
static void tell_pieces(const struct workers *workers)
{
    const struct job *job = workers->job;
    int64_t row = job->begin + workers->next * workers->piece_rows;
    struct progress_step advance = job->whole;
    advance.part = (double)(row < job->end ? row : job->end) / (double)job->rows;
    progress_report(job->progress, &advance);
}

static void work(void *context, int number)
{
    struct member *member = (struct member *)context + number;
    struct workers *workers = member->workers;
    const struct job *job = workers->job;
    while (!workers->stop) {
        int64_t piece = atomic_fetch_add(&workers->next, 1);
        if (piece > (job->end - job->begin - 1) / workers->piece_rows)
            break;
        int64_t begin = job->begin + piece * workers->piece_rows;
        int64_t count = job->end - begin < workers->piece_rows ? job->end - begin : workers->piece_rows;
        if (job->cancel && *job->cancel)
            workers->cancelled = true;
        else if (workers->sink)
            make_rows(member, piece, begin, count);
        else
            add_piece(member, piece, begin, count);
        if (member == workers->caller)
            tell_pieces(workers);
        if (worker_flagged(member->worker))
            workers->flagged = true;
        if (workers->cancelled || workers->flagged)
            stop_crew(workers);
    }
    if (workers->turns)
        hand_in(member, 0);
}

/* Arenas are not shared between threads; a member's is filled here, before its thread starts. Alone, it adds to
 * `states` themselves. */
static void member_init(struct member *member, struct workers *workers, struct agg_state *states, bool alone)
{
    const struct program *program = workers->program;
    const struct task *task = workers->job->task;
    member->workers = workers;
    member->arena = arena_new();
    member->worker = worker_new(program, member->arena);
    member->states = alone ? states : arena_array(member->arena, task->aggregate_count, sizeof *member->states);
    for (size_t i = 0; i < task->aggregate_count && !alone; i++)
        agg_init(&member->states[i], &task->aggregates[i], &task->code);
    member->places = arena_array(member->arena, program->output_count, sizeof *member->places);
}

static bool in_row_order(const struct task *task)
{
    bool ordered = false;
    for (size_t i = 0; i < task->aggregate_count; i++)
        ordered = ordered || aggregate_in_order(&task->aggregates[i], &task->code);
    return ordered;
}

static bool has_folds(const struct task *task)
{
    bool folds = false;
    for (size_t i = 0; i < task->aggregate_count; i++)
        folds = folds || task->aggregates[i].kind == AGG_FOLD;
    return folds;
}

/* Bytes of results a row. */
static int64_t row_bytes(const struct program *program)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < program->output_count; i++)
        bytes += (int64_t)program->outputs[i].size;
    return bytes;
}

static int64_t rows_a_piece(const struct program *program)
{
    int64_t rows = PIECE_ROWS;
    while (rows > BLOCK_ROWS && rows * (row_bytes(program) + 1) > PIECE_BYTES)
        rows /= 2;
    return rows;
}

/* As many as would be if all rows passed. */
static int64_t result_bytes(const struct program *program)
{
    return row_bytes(program) * (program->job->end - program->job->begin);
}

static int64_t piece_count(const struct job *job, int64_t piece_rows)
{
    return (job->end - job->begin - 1) / piece_rows + 1;
}

static int thread_count(const struct evaluator *evaluator, const struct job *job, int64_t piece_rows)
{
    int64_t pieces = piece_count(job, piece_rows);
    if (in_row_order(job->task))
        return 1;
    return pieces < evaluator->threads ? (int)pieces : evaluator->threads;
}

/* Bytes read and written; `columns` NULL for aggregates. */
static int64_t bytes_moved(const struct job *job, const struct program *program, struct column *const *columns,
                           int64_t rows)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < program->stored_count; i++) {
        size_t input = program->stored[i].input;
        const struct column *column = job->columns[input];
        bool again = false;
        for (size_t j = 0; j < i && !again; j++)
            again = program->stored[j].input == input;
        if (!again)
            bytes += (int64_t)type_table[column->store].size * (job->end - job->begin);
    }
    for (size_t i = 0; columns && i < program->output_count; i++)
        bytes += (int64_t)program->outputs[i].size * rows;
    return bytes;
}

/* Pieces that were not reached because the crew stopped are left out: what there is is worthless then. */
static void merge_partials(const struct workers *workers, struct agg_state *states)
{
    const struct job *job = workers->job;
    for (int64_t piece = 0; piece < piece_count(job, workers->piece_rows); piece++) {
        for (size_t k = 0; workers->partials[piece] && k < job->task->aggregate_count; k++)
            agg_merge(&states[k], &workers->partials[piece][k]);
    }
}

/* Runs the job; `states` or `sink` takes the results. */
static enum status run_crew(const struct evaluator *evaluator, const struct job *job, struct agg_state *states,
                            struct row_sink *sink, bool *flagged)
{
    int64_t started = now_ns();
    struct arena *arena = arena_new();
    struct workers workers = {
        .job = job,
        .program = program_new(job, sink ? sink->columns : NULL, arena),
        .sink = sink,
        .filtered = job->task->filter_count > 0,
        .before = sink ? sink->rows : 0,
    };
    struct ordered_output turns;
    ordered_output_init(&turns, workers.before);
    workers.past_cache = result_bytes(workers.program) > PAST_CACHE_BYTES;
    workers.piece_rows = rows_a_piece(workers.program);
    int threads = thread_count(evaluator, job, workers.piece_rows);
    struct member *members = arena_array(arena, (size_t)threads, sizeof *members);
    workers.caller = members;
    if (sink && workers.filtered && threads > 1 && workers.program->output_count > 0)
        workers.turns = &turns;
    if (states && threads > 1 && has_folds(job->task))
        workers.partials = arena_array(arena, (size_t)piece_count(job, workers.piece_rows), sizeof *workers.partials);
    for (int i = 0; i < threads; i++)
        member_init(&members[i], &workers, states, threads == 1);
    thread_pool_run(evaluator->thread_pool, threads, work, members);

    int64_t skipped = 0;
    if (workers.partials)
        merge_partials(&workers, states);
    for (int i = 0; i < threads; i++) {
        for (size_t k = 0; states && threads > 1 && !workers.partials && k < job->task->aggregate_count; k++)
            agg_merge(&states[k], &members[i].states[k]);
        skipped += worker_skipped_bytes(members[i].worker);
        arena_free(members[i].arena);
    }
    if (workers.turns)
        sink->rows = turns.rows;
    else if (sink && workers.filtered)
        sink->rows += workers.passed;
    else if (sink && !workers.filtered)
        sink->rows += job->end - job->begin;
    *flagged = workers.flagged;
    if (job->timing) {
        int64_t bytes =
            bytes_moved(job, workers.program, sink ? sink->columns : NULL, sink ? sink->rows - workers.before : 0);
        timing_add(job->timing, PHASE_KERNEL, stages_title(job->task, arena), now_ns() - started, bytes - skipped);
    }
    bool cancelled = workers.cancelled;
    ordered_output_destroy(&turns);
    arena_free(arena);
    return cancelled ? STATUS_CANCELLED : STATUS_OK;
}

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
    enum status status = fetch_inputs(job->task, job->columns, job->cancel, job->diags);
    if (status != STATUS_OK)
        return status;
    return run_crew((const struct evaluator *)backend, job, states, NULL, flagged);
}

static enum status evaluator_rows(struct backend *backend, const struct job *job, struct row_sink *sink, bool *flagged)
{
    enum status status = fetch_inputs(job->task, job->columns, job->cancel, job->diags);
    if (status != STATUS_OK)
        return status;
    return run_crew((const struct evaluator *)backend, job, NULL, sink, flagged);
}

static enum status evaluator_breaker(struct backend *backend, const struct operator_job *job, bool *flagged)
{
    const struct evaluator *evaluator = (const struct evaluator *)backend;
    enum status status = fetch_inputs(job->task, job->inputs, job->cancel, job->diags);
    if (status != STATUS_OK)
        return status;
    int64_t started = now_ns();
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
        .operator= evaluator_breaker,
        .source = evaluator_source,
        .profile = evaluator_profile,
        .sweep = evaluator_sweep,
        .close = evaluator_close,
    };
    struct evaluator *evaluator = heap_array(1, sizeof *evaluator);
    evaluator->base = (struct backend){.ops = &ops, .name = "host"};
    evaluator->threads = threads < MOST_THREADS ? threads : MOST_THREADS;
    evaluator->thread_pool = thread_pool_new(evaluator->threads);
    return &evaluator->base;
}

struct backend *evaluator_open(void)
{
    cpu_set_t usable;
    bool known = sched_getaffinity(0, sizeof usable, &usable) == 0;
    return evaluator_open_threads(known ? CPU_COUNT(&usable) : 1);
}
