#include "engine/evaluator/group_rows.h"

#include "base/integer.h"
#include "engine/evaluator/block.h"
#include "engine/plan/task_title.h"

/* Shared by the threads. */
struct run {
    const struct job *job;
    const struct program *program;
    struct group_stream *stream;
    int64_t piece_rows;
    struct member *members;
    _Atomic bool flagged;
};

struct member {
    struct arena *arena;
    struct worker *worker;
    void **destinations; /* of the program's outputs */
};

static struct workers workers_of(struct thread_pool *thread_pool, const atomic_int *cancel)
{
    return (struct workers){.threads = thread_pool_threads(thread_pool), .thread_pool = thread_pool, .cancel = cancel};
}

struct group_stream *group_rows_open(const struct operator_job *job, struct thread_pool *thread_pool)
{
    const struct workers workers = workers_of(thread_pool, job->cancel);
    return group_stream_open(job, &workers);
}

/* The columns that thread `member` writes, by the outputs of the job's task; NULL where the group does not read one. */
static struct column **columns_written(const struct run *run, int member, struct arena *arena)
{
    const struct task *group = group_stream_task(run->stream);
    struct column *const *columns = group_stream_columns(run->stream, member);
    struct column **written = arena_array(arena, run->job->task->output_count, sizeof *written);
    for (size_t k = 0; k < group->input_count; k++) {
        if (columns[k])
            written[group->inputs[k].output] = columns[k];
    }
    return written;
}

static void member_init(struct member *member, const struct run *run, int number)
{
    const struct program *program = run->program;
    member->arena = arena_new();
    struct column **columns = columns_written(run, number, member->arena);
    member->worker = worker_new(program, member->arena);
    member->destinations = arena_array(member->arena, program->output_count, sizeof *member->destinations);
    for (size_t i = 0; i < program->output_count; i++)
        member->destinations[i] = column_at(columns[program->outputs[i].output], 0);
}

static void report(const struct job *job, int64_t row)
{
    struct progress_step advance = job->whole;
    advance.part = (double)row / (double)job->rows;
    progress_report(job->progress, &advance);
}

static void run_piece(void *context, int number, int64_t piece)
{
    struct run *run = context;
    struct member *member = &run->members[number];
    const struct job *job = run->job;
    if (run->flagged)
        return;
    const int64_t begin = job->begin + piece * run->piece_rows;
    const int64_t end = min_int64(begin + run->piece_rows, job->end);
    const int64_t rows = worker_rows(member->worker, begin, end - begin, member->destinations, false);
    if (worker_flagged(member->worker))
        run->flagged = true;
    else
        group_stream_add(run->stream, number, rows);
    if (number == 0)
        report(job, end);
}

enum status group_rows_run(const struct job *job, struct group_stream *stream, struct thread_pool *thread_pool,
                           bool *flagged)
{
    const int64_t began = now_ns();
    struct arena *arena = arena_new();
    const struct workers workers = workers_of(thread_pool, job->cancel);
    struct run run = {
        .job = job,
        .stream = stream,
        .piece_rows = group_stream_rows(stream),
        .members = arena_array(arena, (size_t)workers.threads, sizeof *run.members),
    };
    run.program = program_new(job, columns_written(&run, 0, arena), arena);
    for (int i = 0; i < workers.threads; i++)
        member_init(&run.members[i], &run, i);
    const int64_t rows = job->end - job->begin;
    bool done = workers_run(&workers, (rows + run.piece_rows - 1) / run.piece_rows, run_piece, &run);
    done = done && !(job->cancel && *job->cancel); /* a loop ends early then */
    int64_t skipped = 0;
    for (int i = 0; i < workers.threads; i++) {
        skipped += worker_skipped_bytes(run.members[i].worker);
        arena_free(run.members[i].arena);
    }
    *flagged = run.flagged;
    timing_add(job->timing, PHASE_KERNEL, stages_title(job->task, arena), now_ns() - began,
               program_bytes_read(run.program) - skipped);
    arena_free(arena);
    return done ? STATUS_OK : STATUS_CANCELLED;
}
