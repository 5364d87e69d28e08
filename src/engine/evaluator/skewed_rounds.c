#include "engine/evaluator/skewed_rounds.h"

#include "base/integer.h"

#include <time.h>

struct skew {
    struct kept_job *const *jobs;
    int64_t rows, rounds;
    int64_t reach; /* how far apart rows are that read each other */
    int64_t depth; /* rounds of a group, an even number */
    int64_t piece; /* rows of a round that are computed at once */
    int64_t groups;
    _Atomic int64_t next;
    _Atomic int64_t *finished; /* of each group: the rows of its last round */
    _Atomic bool cancelled;
};

/* Whether a column is written by the job. */
static bool writes(const struct kept_job *job, const struct column *column)
{
    bool found = false;
    for (size_t i = 0; i < job->program->output_count && !found; i++)
        found = job->columns[job->program->outputs[i].output] == column;
    return found;
}

/* Whether it cannot fail, and reads what changes only in rows that are near. */
static bool is_local(const struct kept_job *job, const struct kept_job *other)
{
    bool is = job->columns;
    for (int32_t s = 0; s < job->program->step_count && is; s++) {
        const struct step *step = &job->program->steps[s];
        is = step->check == CHECK_NONE && !step->loop &&
             !(step->whole && (writes(job, step->whole) || writes(other, step->whole)));
    }
    return is;
}

/* The bytes of a row in the columns that a round reads and writes. */
static int64_t bytes_of_row(const struct kept_job *job)
{
    return program_bytes_read(job->program) / max_int64(job->job.rows, 1) + program_row_bytes(job->program);
}

/* Chooses how many rounds go together; false: fewer than would pay. */
static bool plan(struct skew *skew, const struct kept_job *job)
{
    enum { MOST = 32, LEAST = 4, PIECE_BLOCKS = 8 };
    const int64_t bytes = bytes_of_row(job);
    skew->rows = job->job.rows;
    skew->reach = max_int64(-job->program->before, job->program->behind);
    skew->piece = PIECE_BLOCKS * job->program->block_rows;
    if (skew->rows * bytes <= CACHED_BYTES)
        return false;
    /* The rows of a group stay in the cache, and the threads' groups follow each other within the rows. */
    const int64_t near = max_int64(skew->reach, 1);
    const int64_t cached = CACHED_BYTES / bytes / near, together = skew->rows / job->threads / near;
    skew->depth = min_int64(min_int64(cached, together * 3 / 4), MOST) & ~INT64_C(1);
    skew->groups = skew->depth > 0 ? divide_up(skew->rounds, skew->depth) : 0;
    return skew->depth >= LEAST;
}

/* Waits until the group before has computed what the rows up to `end` read. */
static void wait_for(struct skew *skew, int64_t group, int64_t end)
{
    const struct timespec some = {.tv_nsec = 20000}; /* a fraction of what a piece takes */
    const int64_t needed = min_int64(end + skew->reach, skew->rows);
    while (group > 0 && skew->finished[group - 1] < needed && !skew->cancelled)
        (void)nanosleep(&some, NULL);
}

static void run_group(struct skew *skew, int number, int64_t group)
{
    const int64_t rounds = min_int64(skew->rounds - group * skew->depth, skew->depth);
    const int64_t behind = (rounds - 1) * skew->reach; /* of the last round */
    const atomic_int *cancel = skew->jobs[0]->job.cancel;
    for (int64_t at = 0; at < skew->rows + behind && !skew->cancelled; at += skew->piece) {
        wait_for(skew, group, at + skew->piece);
        if (cancel && *cancel)
            skew->cancelled = true;
        for (int64_t round = 0; round < rounds && !skew->cancelled; round++) {
            struct kept_member *member = &skew->jobs[round % 2]->members[number];
            const int64_t begin = max_int64(at - round * skew->reach, 0);
            const int64_t end = min_int64(at + skew->piece - round * skew->reach, skew->rows);
            member->worker->cached = round > 0;
            if (begin < end)
                kept_job_run_piece(member, begin, end - begin);
        }
        skew->finished[group] = max_int64(min_int64(at + skew->piece - behind, skew->rows), 0);
    }
}

static void work(void *context, int number)
{
    struct skew *skew = context;
    while (!skew->cancelled) {
        const int64_t group = atomic_fetch_add(&skew->next, 1);
        if (group >= skew->groups)
            break;
        run_group(skew, number, group);
    }
}

enum status skewed_rounds_run(struct kept_job *const jobs[2], int64_t rounds)
{
    struct skew skew = {.jobs = jobs, .rounds = rounds};
    if (jobs[0]->threads != jobs[1]->threads || !is_local(jobs[0], jobs[1]) || !is_local(jobs[1], jobs[0]) ||
        !plan(&skew, jobs[0]))
        return STATUS_UNABLE;
    jobs[0]->nontemporal = jobs[1]->nontemporal = false;
    struct arena *arena = arena_new();
    skew.finished = arena_array(arena, (size_t)skew.groups, sizeof *skew.finished);
    thread_pool_run(jobs[0]->pool, jobs[0]->threads, work, &skew);
    arena_free(arena);
    return skew.cancelled ? STATUS_CANCELLED : STATUS_OK;
}
