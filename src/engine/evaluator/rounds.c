#include "engine/evaluator/pieces.h"

#include "base/integer.h"
#include "engine/backend/datum.h"
#include "engine/evaluator/kept_job.h"
#include "engine/storage/residency.h"

/* A task of the rounds. */
struct round_program {
    struct kept_job *kept; /* NULL: nothing has to be written */
    struct agg_state *states;
};

struct backend_rounds {
    struct arena *arena;
    struct rounds_job job;
    struct round_program *programs; /* of each task */
    struct skewed_rounds *skewed;   /* NULL: the rounds run one by one */
    bool odd;                       /* the number of rounds that have run is odd */
};

static bool open_program(struct backend_rounds *rounds, size_t t, struct thread_pool *pool)
{
    const struct round_task *task = &rounds->job.tasks[t];
    const struct task *plan = task->job->task;
    bool any = plan->sink == SINK_AGGREGATE;
    rounds->programs[t].states =
        arena_array(rounds->arena, plan->aggregate_count + 1, sizeof *rounds->programs[t].states);
    for (size_t k = 0; k < plan->output_count; k++)
        any = any || task->written[k];
    if (!any)
        return true;
    rounds->programs[t].kept = kept_job_new(task->job, plan->sink == SINK_ROWS ? task->written : NULL, pool);
    return rounds->programs[t].kept;
}

static bool copy_start(const struct rounds_job *job)
{
    for (size_t k = 0; k < job->column_count; k++) {
        if (!column_fetch(job->start[k], 0, job->start[k]->rows))
            return false;
        if (job->state[k] != job->after[k])
            column_copy(job->state[k], job->start[k], job->start[k]->rows);
    }
    return true;
}

struct backend_rounds *host_rounds_open(const struct rounds_job *job, struct thread_pool *pool)
{
    struct arena *arena = arena_new();
    struct backend_rounds *rounds = ARENA_NEW(arena, struct backend_rounds, .arena = arena, .job = *job);
    rounds->programs = arena_array(arena, job->count + 1, sizeof *rounds->programs);
    bool good = copy_start(job);
    for (size_t t = 0; t < job->count && good; t++)
        good = open_program(rounds, t, pool);
    if (good && job->count == 1 && rounds->programs[0].kept)
        rounds->skewed = skewed_rounds_open(job, rounds->programs[0].kept, arena);
    if (good)
        return rounds;
    host_rounds_close(rounds);
    return NULL;
}

/* Writes the aggregates as a row. False: one of them is not certain. */
static bool write_aggregates(const struct round_task *task, const struct agg_state *states)
{
    const struct task *plan = task->job->task;
    for (size_t k = 0; k < plan->output_count; k++) {
        struct scalar scalar;
        bool certain = true;
        if (!task->written[k])
            continue;
        if (agg_element(&states[k], &plan->aggregates[k], &scalar, &certain, task->job->diags) != STATUS_OK || !certain)
            return false;
        column_set_datum(task->written[k], 0, datum_of_scalar(&scalar));
    }
    return true;
}

/* Runs tasks begin .. end-1. */
static enum status run_tasks(const struct backend_rounds *rounds, size_t begin, size_t end, bool *flagged)
{
    enum status status = STATUS_OK;
    for (size_t t = begin; t < end && status == STATUS_OK && !*flagged; t++) {
        const struct round_task *task = &rounds->job.tasks[t];
        const struct round_program *program = &rounds->programs[t];
        const struct task *plan = task->job->task;
        const bool aggregates = plan->sink == SINK_AGGREGATE;
        for (size_t k = 0; k < plan->aggregate_count; k++)
            agg_init(&program->states[k], &plan->aggregates[k], &plan->code);
        if (program->kept)
            status = kept_job_run(program->kept, aggregates ? program->states : NULL, flagged);
        if (status == STATUS_OK && !*flagged && aggregates)
            *flagged = !write_aggregates(task, program->states);
    }
    return status;
}

/* Whether the only row of a condition's last task is true, and not missing. */
static bool holds(const struct round_task *task)
{
    const size_t validity = task->job->task->outputs[0].validity;
    return column_get_int(task->written[0], 0) != 0 &&
           (validity == 0 || column_get_int(task->written[validity], 0) != 0);
}

/* Exchanges the elements before and after a round: programs read and write the same columns in all of them. */
static void exchange(struct backend_rounds *rounds)
{
    const struct rounds_job *job = &rounds->job;
    rounds->odd = !rounds->odd;
    for (size_t k = 0; k < job->column_count; k++) {
        const void *data = job->state[k]->data;
        job->state[k]->data = job->after[k]->data;
        job->after[k]->data = data;
    }
}

static enum status run_round(struct backend_rounds *rounds, int64_t round, struct rounds_end *end)
{
    const struct rounds_job *job = &rounds->job;
    *(int64_t *)column_at(job->step, 0) = round;
    enum status status = run_tasks(rounds, 0, job->before, &end->flagged);
    if (status != STATUS_OK || end->flagged)
        return status;
    end->ended = job->before > 0 && !holds(&job->tasks[job->before - 1]);
    if (end->ended)
        return STATUS_OK;
    status = run_tasks(rounds, job->before, job->count, &end->flagged);
    if (status != STATUS_OK || end->flagged)
        return status;
    end->ended = job->after_count > 0 && holds(&job->tasks[job->count - 1]);
    end->done = 1;
    exchange(rounds);
    return STATUS_OK;
}

static enum status run_skewed(struct backend_rounds *rounds, int64_t count, struct rounds_end *end)
{
    const enum status status = skewed_rounds_run(rounds->skewed, count);
    if (status != STATUS_OK)
        return status;
    end->done = count;
    if (count % 2 == 1)
        exchange(rounds);
    return STATUS_OK;
}

enum status host_rounds_run(struct backend_rounds *rounds, int64_t first, int64_t count, struct rounds_end *end)
{
    enum { MOST_SKEWED = 256 }; /* between reports of progress */
    *end = (struct rounds_end){0};
    return rounds->skewed ? run_skewed(rounds, min_int64(count, MOST_SKEWED), end) : run_round(rounds, first, end);
}

bool host_rounds_finish(struct backend_rounds *rounds)
{
    if (rounds->odd)
        exchange(rounds);
    return true;
}

void host_rounds_close(struct backend_rounds *rounds)
{
    if (!rounds)
        return;
    skewed_rounds_close(rounds->skewed);
    for (size_t t = 0; t < rounds->job.count; t++)
        kept_job_free(rounds->programs[t].kept);
    arena_free(rounds->arena);
}
