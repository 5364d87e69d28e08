#include "engine/backend/multi_device.h"

#include "base/heap.h"
#include "base/thread_pool.h"
#include "engine/backend/cost_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    UNIT = 4096,
    LEAST_ROWS = 1 << 22,
    SHARES = 32 /* parts are multiples of a 32nd of the rows, so that they stay the same from run to run */
};

/* Of a member's speed, as a share of all, a new measurement counts this much. */
static const double weight_of_new = 0.25;

/* Of SHARES: a slower member is left out, since a part of whole shares would keep the others waiting. */
static const double least_share = 1.5;

/* What a member does of one range, on a thread of its own: nothing in it is shared. */
struct part {
    struct job job;
    struct arena *arena;
    struct diags diags;
    struct timing timing;
    struct agg_state *states;
    bool taken; /* by a thread */
    bool flagged;
    enum status status;
    int64_t ns;
};

struct member {
    struct backend *backend;
    double speed; /* as a share of all members'; 0: not known yet */
    int share;    /* of SHARES */
    bool able;    /* to run the task prepared last */
    struct part part;
};

struct split {
    struct backend base;
    int64_t least;
    size_t count, best; /* members; the fastest */
    bool known;         /* speeds are */
    /* The fastest's part is run by the caller, the others' by hands that stay theirs as long as the same members have
     * parts: a driver's first calls on a thread take a millisecond. */
    struct thread_pool *thread_pool;
    struct member members[MOST_MEMBERS];
};

static struct split *split_of(struct backend *backend)
{
    return (struct split *)backend;
}

static struct backend *best_of(struct backend *backend)
{
    return split_of(backend)->members[split_of(backend)->best].backend;
}

/* Speeds as shares of their sum, and from those what each member gets: as before where that is about right. */
static void share_out(struct split *split)
{
    double sum = 0;
    int given = 0;
    for (size_t k = 0; k < split->count; k++)
        sum += split->members[k].speed;
    for (size_t k = 0; k < split->count; k++) {
        struct member *member = &split->members[k];
        member->speed /= sum;
        if (member->speed > split->members[split->best].speed)
            split->best = k;
        double share = member->speed * SHARES;
        if (share < least_share)
            member->share = 0;
        else if (fabs(share - member->share) > 1.5)
            member->share = (int)lround(share);
    }
    for (size_t k = 0; k < split->count; k++)
        given += split->members[k].share;
    split->members[split->best].share += SHARES - given;
}

/* Before anything has been measured: by what is usual for devices like these. */
static void guess_speeds(struct split *split)
{
    if (split->known)
        return;
    split->known = true;
    for (size_t k = 0; k < split->count; k++) {
        struct member *member = &split->members[k];
        struct profile profile;
        member->speed = 0;
        if (member->backend->ops->profile(member->backend, true, &profile) == BACKEND_READY)
            member->speed = 1 / cost_model_default(&profile).of[WORK_AGGREGATE].byte;
    }
    double sum = 0;
    for (size_t k = 0; k < split->count; k++)
        sum += split->members[k].speed;
    if (sum <= 0)
        split->members[0].speed = 1;
    share_out(split);
}

/* The rows of a member's part, counted from the range's beginning. */
static int64_t part_rows_before(const struct split *split, const struct job *job, size_t member)
{
    int64_t rows = job->end - job->begin;
    int before = 0;
    for (size_t k = 0; k < member; k++)
        before += split->members[k].able ? split->members[k].share : 0;
    int all = before;
    for (size_t k = member; k < split->count; k++)
        all += split->members[k].able ? split->members[k].share : 0;
    if (before == all)
        return rows;
    return (int64_t)((double)rows * before / all) / UNIT * UNIT;
}

/* Whether the task's rows can be shared out, and are worth it. Evaluating a function of the user's gets it ready at
 * first, which several threads at once must not. What another device has computed stays where it is. */
static bool is_shared(const struct split *split, const struct job *job)
{
    const struct task *task = job->task;
    bool shared = task->sink == SINK_AGGREGATE && job->end - job->begin >= 2 * split->least;
    for (size_t i = 0; i < task->aggregate_count; i++)
        shared =
            shared && task->aggregates[i].kind != AGG_FOLD && !aggregate_in_order(&task->aggregates[i], &task->code);
    for (size_t k = 0; k < task->input_count; k++)
        shared = shared && !(job->columns[k] && job->columns[k]->residency);
    size_t able = 0;
    for (size_t k = 0; k < split->count; k++)
        able += split->members[k].able && split->members[k].share > 0;
    return shared && able > 1;
}

static enum readiness split_begin(struct backend *backend, const struct job *job)
{
    struct split *split = split_of(backend);
    enum readiness readiness = BACKEND_READY;
    if (!job)
        thread_pool_wake(split->thread_pool);
    for (size_t k = 0; k < split->count; k++) {
        enum readiness one = split->members[k].backend->ops->begin(split->members[k].backend, job);
        readiness = one > readiness ? one : readiness;
    }
    return readiness;
}

/* The best member has to be able. Others that are not are left out, without a word. */
static enum status split_prepare(struct backend *backend, const struct job *job)
{
    struct split *split = split_of(backend);
    guess_speeds(split);
    enum status status = best_of(backend)->ops->prepare(best_of(backend), job);
    for (size_t k = 0; k < split->count; k++)
        split->members[k].able = k == split->best;
    bool shared = job->task->sink == SINK_AGGREGATE && job->end - job->begin >= 2 * split->least;
    for (size_t k = 0; k < split->count && shared && status == STATUS_OK; k++) {
        struct member *member = &split->members[k];
        size_t told = job->diags->count;
        if (k == split->best || member->share == 0)
            continue;
        enum status one = member->backend->ops->prepare(member->backend, job);
        if (one == STATUS_CANCELLED)
            return one;
        member->able = one == STATUS_OK;
        job->diags->count = member->able ? job->diags->count : told;
    }
    return status;
}

static int64_t split_range_rows(struct backend *backend, const struct job *job)
{
    if (is_shared(split_of(backend), job))
        return INT64_MAX;
    return best_of(backend)->ops->range_rows(best_of(backend), job);
}

static void init_states(const struct task *task, struct agg_state *states)
{
    for (size_t i = 0; i < task->aggregate_count; i++)
        agg_init(&states[i], &task->aggregates[i], &task->code);
}

static void merge_states(const struct task *task, struct agg_state *into, const struct agg_state *from)
{
    for (size_t i = 0; i < task->aggregate_count; i++)
        agg_merge(&into[i], &from[i]);
}

/* The time that says how fast a device is: columns are moved there once. */
static int64_t time_without_moving(const struct part *part, int64_t ns)
{
    for (size_t i = 0; i < part->timing.count; i++) {
        enum phase phase = part->timing.events[i].phase;
        ns -= phase == PHASE_UPLOAD || phase == PHASE_BUILD ? part->timing.events[i].ns : 0;
    }
    return ns;
}

/* A member's part, in ranges as long as it takes them. */
static void run_part(struct member *member)
{
    struct part *part = &member->part;
    const struct task *task = part->job.task;
    struct job range = part->job;
    const int64_t began = now_ns();
    while (range.begin < part->job.end && part->status == STATUS_OK && !part->flagged) {
        if (range.cancel && *range.cancel) {
            part->status = STATUS_CANCELLED;
            break;
        }
        int64_t most = member->backend->ops->range_rows(member->backend, &part->job);
        most = most > UNIT ? most / UNIT * UNIT : most;
        range.end = part->job.end - range.begin > most ? range.begin + most : part->job.end;
        struct agg_state *states = arena_array(part->arena, task->aggregate_count, sizeof *states);
        init_states(task, states);
        part->status = member->backend->ops->aggregate(member->backend, &range, states, &part->flagged);
        if (part->status == STATUS_OK)
            merge_states(task, part->states, states);
        range.begin = range.end;
    }
    part->ns = time_without_moving(part, now_ns() - began);
}

static bool is_empty(const struct part *part)
{
    return part->job.begin == part->job.end;
}

static void run_one(void *context, int number)
{
    struct member *const *members = context;
    members[number]->part.taken = true;
    run_part(members[number]);
}

/* Runs the parts side by side, the best member's here, and those that no thread was to be had for. */
static void run_parts(struct split *split)
{
    struct member *members[MOST_MEMBERS] = {&split->members[split->best]};
    int count = 1;
    for (size_t k = 0; k < split->count; k++) {
        if (k != split->best && !is_empty(&split->members[k].part))
            members[count++] = &split->members[k];
    }
    thread_pool_run(split->thread_pool, count, run_one, members);
    for (int i = 0; i < count; i++) {
        if (!members[i]->part.taken)
            run_part(members[i]);
    }
}

static void begin_part(const struct split *split, size_t k, const struct job *job, struct part *part)
{
    *part = (struct part){.job = *job, .arena = arena_new()};
    diags_init(&part->diags, part->arena);
    timing_init(&part->timing, part->arena);
    part->job.begin = job->begin + part_rows_before(split, job, k);
    part->job.end = job->begin + part_rows_before(split, job, k + 1);
    part->job.until = part->job.end;
    part->job.diags = &part->diags;
    part->job.timing = &part->timing;
    part->job.progress = NULL; /* which is told on the main thread only */
    part->states = arena_array(part->arena, job->task->aggregate_count, sizeof *part->states);
    init_states(job->task, part->states);
}

/* What a part had to say, and where its time went, under the number of its device. */
static void take_over(const struct part *part, size_t k, const struct job *job)
{
    struct arena *arena = job->diags->arena;
    for (size_t i = 0; i < part->diags.count; i++) {
        const struct diag *diag = &part->diags.at[i];
        if (diag->severity == SEVERITY_ERROR)
            (void)diag_error(job->diags, diag->span, "%s", diag->message);
        else
            diag_note(job->diags, diag->span, "%s", diag->message);
        if (diag->hint)
            diag_hint(job->diags, "%s", diag->hint);
    }
    for (size_t i = 0; job->timing && i < part->timing.count; i++) {
        const struct event *event = &part->timing.events[i];
        timing_add(job->timing, event->phase, arena_printf(arena, "%s, part %zu", event->name, k + 1), event->ns,
                   event->bytes);
    }
}

/* How fast the members were side by side, from parts long enough to tell. */
static void learn(struct split *split)
{
    double sum = 0;
    for (size_t k = 0; k < split->count; k++) {
        const struct part *part = &split->members[k].part;
        int64_t rows = part->job.end - part->job.begin;
        if (rows > 0 && (rows < split->least || part->ns <= 0))
            return;
        sum += rows > 0 ? (double)rows / (double)part->ns : 0;
    }
    for (size_t k = 0; k < split->count; k++) {
        struct member *member = &split->members[k];
        int64_t rows = member->part.job.end - member->part.job.begin;
        double speed = rows > 0 ? (double)rows / (double)member->part.ns / sum : member->speed;
        member->speed += weight_of_new * (speed - member->speed);
    }
    share_out(split);
}

static enum status run_shared(struct split *split, const struct job *job, struct agg_state *states, bool *flagged)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < split->count; k++)
        begin_part(split, k, job, &split->members[k].part);
    run_parts(split);
    for (size_t k = 0; k < split->count; k++) {
        struct part *part = &split->members[k].part;
        take_over(part, k, job);
        if (part->status != STATUS_OK && (status == STATUS_OK || part->status == STATUS_FAILED))
            status = part->status;
        *flagged = *flagged || part->flagged;
        if (status == STATUS_OK)
            merge_states(job->task, states, part->states);
    }
    if (status == STATUS_OK && !*flagged)
        learn(split);
    for (size_t k = 0; k < split->count; k++) {
        arena_free(split->members[k].part.arena);
        split->members[k].part = (struct part){0};
    }
    return status;
}

static enum status split_aggregate(struct backend *backend, const struct job *job, struct agg_state *states,
                                   bool *flagged)
{
    if (is_shared(split_of(backend), job))
        return run_shared(split_of(backend), job, states, flagged);
    return best_of(backend)->ops->aggregate(best_of(backend), job, states, flagged);
}

static enum status split_rows(struct backend *backend, const struct job *job, struct row_sink *sink, bool *flagged)
{
    return best_of(backend)->ops->rows(best_of(backend), job, sink, flagged);
}

static enum status split_breaker(struct backend *backend, const struct operator_job *job, bool *flagged)
{
    guess_speeds(split_of(backend));
    return best_of(backend)->ops->operator(best_of(backend), job, flagged);
}

static const char *split_source(struct backend *backend, const struct job *job)
{
    guess_speeds(split_of(backend));
    return best_of(backend)->ops->source(best_of(backend), job);
}

static enum readiness split_profile(struct backend *backend, bool wait, struct profile *profile)
{
    return best_of(backend)->ops->profile(best_of(backend), wait, profile);
}

static void split_sweep(struct backend *backend)
{
    for (size_t k = 0; k < split_of(backend)->count; k++)
        split_of(backend)->members[k].backend->ops->sweep(split_of(backend)->members[k].backend);
}

static void split_close(struct backend *backend)
{
    struct split *split = split_of(backend);
    thread_pool_free(split->thread_pool);
    for (size_t k = 0; k < split->count; k++)
        split->members[k].backend->ops->close(split->members[k].backend);
    free(split);
}

struct backend *multi_device_open(struct backend *const *members, size_t count, int64_t least)
{
    static const struct backend_ops ops = {
        .begin = split_begin,
        .prepare = split_prepare,
        .range_rows = split_range_rows,
        .aggregate = split_aggregate,
        .rows = split_rows,
        .operator= split_breaker,
        .source = split_source,
        .profile = split_profile,
        .sweep = split_sweep,
        .close = split_close,
    };
    struct split *split = heap_array(1, sizeof *split);
    split->base = (struct backend){.ops = &ops, .name = "all"};
    split->least = least > 0 ? least : LEAST_ROWS;
    split->count = count;
    split->thread_pool = thread_pool_new((int)count);
    for (size_t k = 0; k < count; k++)
        split->members[k].backend = members[k];
    return &split->base;
}
