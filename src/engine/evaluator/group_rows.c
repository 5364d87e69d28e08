#include "engine/evaluator/pieces.h"

#include "base/integer.h"
#include "engine/evaluator/block.h"
#include "engine/plan/task_title.h"

/* Shared by the threads. */
struct grouping_rows {
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
static struct column **columns_written(const struct grouping_rows *grouping, int member, struct arena *arena)
{
    const struct task *group = group_stream_task(grouping->stream);
    struct column *const *columns = group_stream_columns(grouping->stream, member);
    struct column **written = arena_array(arena, grouping->job->task->output_count, sizeof *written);
    for (size_t k = 0; k < group->input_count; k++) {
        if (columns[k])
            written[group->inputs[k].output] = columns[k];
    }
    return written;
}

static void member_init(struct member *member, const struct grouping_rows *grouping, int number)
{
    const struct program *program = grouping->program;
    member->arena = arena_new();
    struct column **columns = columns_written(grouping, number, member->arena);
    member->worker = worker_new(program, member->arena);
    member->destinations = arena_array(member->arena, program->output_count, sizeof *member->destinations);
    for (size_t i = 0; i < program->output_count; i++)
        member->destinations[i] = column_at(columns[program->outputs[i].output], 0);
}

static void run_piece(void *context, int number, int64_t piece)
{
    struct grouping_rows *grouping = context;
    struct member *member = &grouping->members[number];
    const struct job *job = grouping->job;
    if (grouping->flagged)
        return;
    const int64_t begin = job->begin + piece * grouping->piece_rows;
    const int64_t end = min_int64(begin + grouping->piece_rows, job->end);
    const int64_t rows = worker_rows(member->worker, begin, end - begin, member->destinations);
    if (worker_flagged(member->worker))
        grouping->flagged = true;
    else
        group_stream_add(grouping->stream, number, rows);
    if (number == 0)
        job_report(job, end);
}

enum status group_rows_run(const struct job *job, struct group_stream *stream, struct thread_pool *thread_pool,
                           bool *flagged)
{
    const int64_t began = now_ns();
    struct arena *arena = arena_new();
    const struct workers workers = workers_of(thread_pool, job->cancel);
    struct grouping_rows grouping = {
        .job = job,
        .stream = stream,
        .piece_rows = group_stream_rows(stream),
        .members = arena_array(arena, (size_t)workers.threads, sizeof *grouping.members),
    };
    grouping.program = program_new(job, columns_written(&grouping, 0, arena), arena);
    for (int i = 0; i < workers.threads; i++)
        member_init(&grouping.members[i], &grouping, i);
    const int64_t rows = job->end - job->begin;
    bool done = workers_run(&workers, (rows + grouping.piece_rows - 1) / grouping.piece_rows, run_piece, &grouping);
    done = done && !(job->cancel && *job->cancel); /* a loop ends early then */
    int64_t skipped = 0;
    for (int i = 0; i < workers.threads; i++) {
        skipped += worker_skipped_bytes(grouping.members[i].worker);
        arena_free(grouping.members[i].arena);
    }
    *flagged = grouping.flagged;
    timing_add(job->timing, PHASE_KERNEL, stages_title(job->task, arena), now_ns() - began,
               program_bytes_read(grouping.program) - skipped);
    arena_free(arena);
    return done ? STATUS_OK : STATUS_CANCELLED;
}
