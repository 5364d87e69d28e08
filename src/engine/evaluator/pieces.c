/* A job on the threads of the evaluator: its range of rows is cut into pieces, which threads take in order. */
#include "engine/evaluator/pieces.h"

#include "base/ordered_parts.h"
#include "engine/evaluator/block.h"
#include "engine/plan/task_title.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    PIECE_ROWS = 16 * BLOCK_ROWS, /* long enough that taking pieces costs nothing */
    PIECE_BYTES = 4 << 20,        /* pieces of many output columns are shorter, to stay in a core's cache */
    LOOP_PIECES = 128,            /* where rows have rounds, there are as many pieces, */
    LOOP_ROWS = 512,              /* or such short ones, which run in tiles */
    MAX_WAITING = 4,              /* finished pieces a thread may hold while an earlier one is unfinished */
};

/* Shared by the threads. */
struct shared {
    const struct job *job;
    const struct program *program;
    const struct thread *caller; /* the thread that runs the statement */
    int threads;
    struct agg_state *states; /* of the job */
    int64_t piece_rows;
    _Atomic int64_t next; /* next piece to take */
    _Atomic bool stop;
    _Atomic bool flagged;
    _Atomic bool cancelled;

    struct agg_state **partials; /* by piece, where they merge in order; else NULL */

    /* Rows only. */
    struct row_sink *sink;
    bool filtered;
    int64_t before;              /* rows in the sink when the range began */
    struct ordered_parts *order; /* order of filtered rows from several threads; else NULL: */
    int64_t *places;             /* of each published piece its number of rows; of one that is passed, its first row */
    int64_t rows;                /* of the sink and all pieces passed */
    _Atomic int64_t passed;      /* filtered rows that are only counted */
};

/* Rows of a piece that finished before an earlier one. */
struct batch {
    int64_t piece, rows;
    void **buffers; /* one for each output */
};

struct thread {
    struct shared *shared;
    struct arena *arena;
    struct worker *worker;
    struct agg_state *states;
    void **destinations; /* where each output is written */
    struct batch batches[MAX_WAITING];
    int oldest, waiting; /* batches form a ring */
};

static void stop_threads(struct shared *shared)
{
    shared->stop = true;
    if (shared->order)
        ordered_parts_stop(shared->order);
}

static void set_destinations(struct thread *thread, int64_t row)
{
    const struct shared *shared = thread->shared;
    for (size_t i = 0; i < shared->program->output_count; i++)
        thread->destinations[i] = column_at(shared->sink->columns[shared->program->outputs[i].output], row);
}

/* Makes of the number of rows of a piece where they begin. */
static void pass_piece(void *context, int64_t piece)
{
    struct shared *shared = context;
    const int64_t rows = shared->places[piece];
    shared->places[piece] = shared->rows;
    shared->rows += rows;
}

static void publish_piece(struct shared *shared, int64_t piece, int64_t rows)
{
    shared->places[piece] = rows;
    ordered_parts_publish(shared->order, piece);
}

/* Writes the batches whose places are known, and waits for those of others until at most `most` are left. */
static void write_batches(struct thread *thread, int most)
{
    struct shared *shared = thread->shared;
    while (thread->waiting > 0) {
        const struct batch *batch = &thread->batches[thread->oldest];
        if (!ordered_parts_is_passed(shared->order, batch->piece) &&
            (thread->waiting <= most || !ordered_parts_wait(shared->order, batch->piece)))
            return;
        set_destinations(thread, shared->places[batch->piece]);
        for (size_t i = 0; i < shared->program->output_count && batch->rows > 0; i++)
            memcpy(thread->destinations[i], batch->buffers[i], (size_t)batch->rows * shared->program->outputs[i].size);
        thread->oldest = (thread->oldest + 1) % MAX_WAITING;
        thread->waiting--;
    }
}

/* An empty batch behind the waiting ones. */
static struct batch *next_batch(struct thread *thread)
{
    const struct shared *shared = thread->shared;
    struct batch *batch = &thread->batches[(thread->oldest + thread->waiting) % MAX_WAITING];
    if (batch->buffers)
        return batch;
    batch->buffers = arena_array(thread->arena, shared->program->output_count, sizeof *batch->buffers);
    for (size_t i = 0; i < shared->program->output_count; i++)
        batch->buffers[i] =
            arena_aligned(thread->arena, (size_t)shared->piece_rows * shared->program->outputs[i].size, CACHE_LINE);
    return batch;
}

/* Where filtered rows go depends on all earlier pieces. If the rows of those are counted, these go to their
 * destinations directly; else they wait in a batch. */
static void run_filtered_piece(struct thread *thread, int64_t piece, int64_t begin, int64_t count)
{
    struct shared *shared = thread->shared;
    write_batches(thread, MAX_WAITING - 1);
    if (thread->waiting == MAX_WAITING) /* stopped */
        return;
    if (ordered_parts_is_next(shared->order, piece)) {
        set_destinations(thread, shared->rows);
        const int64_t rows = worker_rows(thread->worker, begin, count, thread->destinations);
        if (!worker_flagged(thread->worker))
            publish_piece(shared, piece, rows);
        return;
    }
    struct batch *batch = next_batch(thread);
    batch->piece = piece;
    batch->rows = worker_rows(thread->worker, begin, count, batch->buffers);
    if (worker_flagged(thread->worker))
        return;
    publish_piece(shared, piece, batch->rows);
    thread->waiting++;
}

static void run_piece(struct thread *thread, int64_t piece, int64_t begin, int64_t count)
{
    struct shared *shared = thread->shared;
    if (shared->order) {
        run_filtered_piece(thread, piece, begin, count);
        return;
    }
    if (shared->program->output_count == 0) {
        shared->passed += worker_rows(thread->worker, begin, count, thread->destinations);
        return;
    }
    set_destinations(thread, shared->filtered ? shared->sink->rows : shared->before + begin - shared->job->begin);
    const int64_t rows = worker_rows(thread->worker, begin, count, thread->destinations);
    if (shared->filtered) /* one thread: several have an `order` */
        shared->sink->rows += rows;
}

/* Aggregates a piece into the thread's states, or into states of its own that merge in the order of pieces. */
static void aggregate_piece(struct thread *thread, int64_t piece, int64_t begin, int64_t count)
{
    const struct shared *shared = thread->shared;
    const struct task *task = shared->job->task;
    struct agg_state *states = thread->states;
    if (shared->partials) {
        states = arena_array(thread->arena, task->aggregate_count, sizeof *states);
        for (size_t i = 0; i < task->aggregate_count; i++)
            agg_init(&states[i], &task->aggregates[i], &task->code);
        shared->partials[piece] = states;
    }
    worker_aggregate(thread->worker, begin, count, states);
}

/* Pieces taken count as done. */
static void report_pieces(const struct shared *shared)
{
    const struct job *job = shared->job;
    const int64_t row = job->begin + shared->next * shared->piece_rows;
    struct progress_step advance = job->whole;
    advance.part = (double)(row < job->end ? row : job->end) / (double)job->rows;
    progress_report(job->progress, &advance);
}

/* Each thread prepares itself when it takes its first piece: its memory is then in its own caches, and is zeroed while
 * others already work. A thread alone adds to the job's states directly. */
static void thread_init(struct thread *thread)
{
    const struct shared *shared = thread->shared;
    const struct program *program = shared->program;
    const struct task *task = shared->job->task;
    thread->arena = arena_new();
    thread->worker = worker_new(program, thread->arena);
    worker_set_gap(thread->worker, (shared->threads - 1) * shared->piece_rows);
    thread->states = shared->states;
    if (shared->threads > 1)
        thread->states = arena_array(thread->arena, task->aggregate_count, sizeof *thread->states);
    for (size_t i = 0; i < task->aggregate_count && shared->threads > 1; i++)
        agg_init(&thread->states[i], &task->aggregates[i], &task->code);
    thread->destinations = arena_array(thread->arena, program->output_count, sizeof *thread->destinations);
}

static void work(void *context, int number)
{
    struct thread *thread = (struct thread *)context + number;
    struct shared *shared = thread->shared;
    const struct job *job = shared->job;
    while (!shared->stop) {
        const int64_t piece = atomic_fetch_add(&shared->next, 1);
        if (piece > (job->end - job->begin - 1) / shared->piece_rows)
            break;
        if (!thread->worker)
            thread_init(thread);
        const int64_t begin = job->begin + piece * shared->piece_rows;
        const int64_t count = job->end - begin < shared->piece_rows ? job->end - begin : shared->piece_rows;
        if (job->cancel && *job->cancel)
            shared->cancelled = true;
        else if (shared->sink)
            run_piece(thread, piece, begin, count);
        else
            aggregate_piece(thread, piece, begin, count);
        if (thread == shared->caller)
            report_pieces(shared);
        if (worker_flagged(thread->worker))
            shared->flagged = true;
        if (shared->cancelled || shared->flagged)
            stop_threads(shared);
    }
    if (shared->order)
        write_batches(thread, 0);
}

static bool in_row_order(const struct task *task)
{
    bool ordered = false;
    for (size_t i = 0; i < task->aggregate_count; i++)
        ordered = ordered || aggregate_in_order(&task->aggregates[i], &task->code);
    return ordered;
}

static bool has_user_reduce(const struct task *task)
{
    bool folds = false;
    for (size_t i = 0; i < task->aggregate_count; i++)
        folds = folds || task->aggregates[i].kind == AGG_FOLD;
    return folds;
}

static int64_t rows_per_piece(const struct program *program)
{
    int64_t rows = PIECE_ROWS;
    while (rows > BLOCK_ROWS && rows * (program_row_bytes(program) + 1) > PIECE_BYTES)
        rows /= 2;
    while (rows > LOOP_ROWS && program->loop_count > 0 &&
           (program->job->end - program->job->begin) / rows < LOOP_PIECES)
        rows /= 2;
    return rows;
}

static int64_t piece_count(const struct job *job, int64_t piece_rows)
{
    return (job->end - job->begin - 1) / piece_rows + 1;
}

static int thread_count(const struct job *job, int64_t piece_rows, int threads)
{
    const int64_t pieces = piece_count(job, piece_rows);
    if (in_row_order(job->task))
        return 1;
    return pieces < threads ? (int)pieces : threads;
}

/* Bytes read, and written for `rows` result rows. */
static int64_t bytes_moved(const struct program *program, int64_t rows)
{
    return program_bytes_read(program) + program_row_bytes(program) * rows;
}

/* Pieces not reached after a stop have no states; the result is discarded then. */
static void merge_partials(const struct shared *shared, struct agg_state *states)
{
    const struct job *job = shared->job;
    for (int64_t piece = 0; piece < piece_count(job, shared->piece_rows); piece++) {
        for (size_t k = 0; shared->partials[piece] && k < job->task->aggregate_count; k++)
            agg_merge(&states[k], &shared->partials[piece][k]);
    }
}

enum status run_pieces(struct thread_pool *pool, int most, const struct job *job, struct agg_state *states,
                       struct row_sink *sink, bool *flagged)
{
    const int64_t started = now_ns();
    struct arena *arena = arena_new();
    struct shared shared = {
        .job = job,
        .program = program_new(job, sink ? sink->columns : NULL, arena),
        .sink = sink,
        .filtered = job->task->filter_count > 0,
        .before = sink ? sink->rows : 0,
    };
    shared.piece_rows = rows_per_piece(shared.program);
    const int threads = thread_count(job, shared.piece_rows, most);
    struct thread *per_thread = arena_array(arena, (size_t)threads, sizeof *per_thread);
    shared.caller = per_thread;
    shared.threads = threads;
    shared.states = states;
    struct ordered_parts order;
    if (sink && shared.filtered && threads > 1 && shared.program->output_count > 0) {
        const int64_t pieces = piece_count(job, shared.piece_rows);
        shared.places = arena_array(arena, (size_t)pieces, sizeof *shared.places);
        shared.rows = shared.before;
        shared.order = &order;
        ordered_parts_init(&order, pieces, pass_piece, &shared);
    }
    if (states && threads > 1 && has_user_reduce(job->task))
        shared.partials = arena_array(arena, (size_t)piece_count(job, shared.piece_rows), sizeof *shared.partials);
    for (int i = 0; i < threads; i++)
        per_thread[i].shared = &shared;
    thread_pool_run(pool, threads, work, per_thread);

    int64_t skipped = 0;
    if (shared.partials)
        merge_partials(&shared, states);
    for (int i = 0; i < threads; i++) {
        if (!per_thread[i].worker) /* it came too late */
            continue;
        for (size_t k = 0; states && threads > 1 && !shared.partials && k < job->task->aggregate_count; k++)
            agg_merge(&states[k], &per_thread[i].states[k]);
        skipped += worker_skipped_bytes(per_thread[i].worker);
        arena_free(per_thread[i].arena);
    }
    if (shared.order) {
        sink->rows = shared.rows;
        ordered_parts_destroy(&order);
    } else if (sink && shared.filtered)
        sink->rows += shared.passed;
    else if (sink && !shared.filtered)
        sink->rows += job->end - job->begin;
    *flagged = shared.flagged;
    if (job->timing) {
        const int64_t bytes = bytes_moved(shared.program, sink ? sink->rows - shared.before : 0);
        timing_add(job->timing, PHASE_KERNEL, stages_title(job->task, arena), now_ns() - started, bytes - skipped);
    }
    /* A loop ends early then. */
    const bool cancelled = shared.cancelled || (job->cancel && *job->cancel);
    arena_free(arena);
    return cancelled ? STATUS_CANCELLED : STATUS_OK;
}
