#include "engine/evaluator/kept_job.h"

#include "base/integer.h"

#include <time.h>

struct skewed_rounds {
    struct kept_job *jobs[2]; /* of even and of odd rounds: the second reads what the first writes, and the reverse */
    int64_t rows;
    int64_t reach; /* how far apart rows are that read each other */
    int64_t depth; /* rounds of a group, an even number */
    int64_t piece; /* rows of a round that are computed at once */
    /* Of a run: */
    int64_t rounds, groups;
    _Atomic int64_t next;
    _Atomic int64_t *finished; /* of each group: the rows of its last round */
    _Atomic bool cancelled;
};

/* The column in whose place odd rounds read or write. */
static struct column *exchanged(const struct rounds_job *rounds, struct column *column)
{
    for (size_t k = 0; k < rounds->column_count; k++) {
        if (column == rounds->state[k])
            return rounds->after[k];
        if (column == rounds->after[k])
            return rounds->state[k];
    }
    return column;
}

/* Whether it cannot fail, is the same in each round, and reads what changes only in rows that are near. */
static bool is_local(const struct kept_job *job, const struct rounds_job *rounds)
{
    bool is = job->columns;
    for (size_t k = 0; k < job->job.task->input_count && is; k++)
        is = job->job.columns[k] != rounds->step;
    for (int32_t s = 0; s < job->program->step_count && is; s++) {
        const struct step *step = &job->program->steps[s];
        const struct column *whole = step->whole;
        is = step->check == CHECK_NONE && !step->loop && !(whole && exchanged(rounds, (struct column *)whole) != whole);
    }
    return is;
}

/* The bytes of a row in the columns that a round reads and writes. */
static int64_t bytes_of_row(const struct kept_job *job)
{
    return program_bytes_read(job->program) / max_int64(job->job.rows, 1) + program_row_bytes(job->program);
}

/* Chooses how many rounds go together; false: fewer than would pay. */
static bool plan(struct skewed_rounds *skewed, const struct kept_job *job)
{
    enum { MOST = 32, LEAST = 4, PIECE_BLOCKS = 8 };
    const int64_t bytes = bytes_of_row(job);
    skewed->reach = max_int64(-job->program->before, job->program->behind);
    skewed->piece = PIECE_BLOCKS * job->program->block_rows;
    if (skewed->rows * bytes <= CACHED_BYTES)
        return false;
    /* The rows of a group stay in the cache, and the threads' groups follow each other within the rows. */
    const int64_t near = max_int64(skewed->reach, 1);
    const int64_t cached = CACHED_BYTES / bytes / near, together = skewed->rows / job->threads / near;
    skewed->depth = min_int64(min_int64(cached, together * 3 / 4), MOST) & ~INT64_C(1);
    return skewed->depth >= LEAST;
}

/* The job of odd rounds. */
static struct kept_job *open_odd(const struct rounds_job *rounds, const struct kept_job *even, struct arena *arena)
{
    const struct task *task = even->job.task;
    struct column **read = arena_array(arena, task->input_count + 1, sizeof *read);
    struct column **written = arena_array(arena, task->output_count + 1, sizeof *written);
    for (size_t k = 0; k < task->input_count; k++)
        read[k] = exchanged(rounds, even->job.columns[k]);
    for (size_t k = 0; k < task->output_count; k++)
        written[k] = exchanged(rounds, even->columns[k]);
    struct job job = *rounds->tasks[0].job;
    job.columns = read;
    return kept_job_new(&job, written, even->pool);
}

struct skewed_rounds *skewed_rounds_open(const struct rounds_job *rounds, struct kept_job *even, struct arena *arena)
{
    struct skewed_rounds *skewed = ARENA_NEW(arena, struct skewed_rounds, .jobs = {even}, .rows = even->job.rows);
    if (!is_local(even, rounds) || !plan(skewed, even))
        return NULL;
    skewed->jobs[1] = open_odd(rounds, even, arena);
    return skewed->jobs[1] ? skewed : NULL;
}

/* Waits until the group before has computed what the rows up to `end` read. */
static void wait_for(struct skewed_rounds *skewed, int64_t group, int64_t end)
{
    const struct timespec some = {.tv_nsec = 20000}; /* a fraction of what a piece takes */
    const int64_t needed = min_int64(end + skewed->reach, skewed->rows);
    while (group > 0 && skewed->finished[group - 1] < needed && !skewed->cancelled)
        (void)nanosleep(&some, NULL);
}

static void run_group(struct skewed_rounds *skewed, int number, int64_t group)
{
    const int64_t rounds = min_int64(skewed->rounds - group * skewed->depth, skewed->depth);
    const int64_t behind = (rounds - 1) * skewed->reach; /* of the last round */
    const atomic_int *cancel = skewed->jobs[0]->job.cancel;
    for (int64_t at = 0; at < skewed->rows + behind && !skewed->cancelled; at += skewed->piece) {
        wait_for(skewed, group, at + skewed->piece);
        if (cancel && *cancel)
            skewed->cancelled = true;
        for (int64_t round = 0; round < rounds && !skewed->cancelled; round++) {
            struct kept_member *member = &skewed->jobs[round % 2]->members[number];
            const int64_t begin = max_int64(at - round * skewed->reach, 0);
            const int64_t end = min_int64(at + skewed->piece - round * skewed->reach, skewed->rows);
            member->worker->cached = round > 0;
            if (begin < end)
                kept_job_run_piece(member, begin, end - begin);
        }
        skewed->finished[group] = max_int64(min_int64(at + skewed->piece - behind, skewed->rows), 0);
    }
}

static void work(void *context, int number)
{
    struct skewed_rounds *skewed = context;
    while (!skewed->cancelled) {
        const int64_t group = atomic_fetch_add(&skewed->next, 1);
        if (group >= skewed->groups)
            break;
        run_group(skewed, number, group);
    }
}

enum status skewed_rounds_run(struct skewed_rounds *skewed, int64_t rounds)
{
    struct arena *arena = arena_new();
    skewed->rounds = rounds;
    skewed->groups = divide_up(rounds, skewed->depth);
    skewed->finished = arena_array(arena, (size_t)skewed->groups, sizeof *skewed->finished);
    skewed->next = 0;
    skewed->cancelled = false;
    thread_pool_run(skewed->jobs[0]->pool, skewed->jobs[0]->threads, work, skewed);
    arena_free(arena);
    return skewed->cancelled ? STATUS_CANCELLED : STATUS_OK;
}

void skewed_rounds_close(struct skewed_rounds *skewed)
{
    if (skewed)
        kept_job_free(skewed->jobs[1]);
}
