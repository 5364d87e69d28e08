#include "engine/backend/multi_device.h"

#include "base/heap.h"
#include "base/thread_pool.h"
#include "engine/backend/cost_model.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum {
    UNIT = 4096,
    LEAST_ROWS = 1 << 22,
    SHARES = 32 /* parts are multiples of 1/32 of the rows, so that they stay the same from run to run */
};

/* The weight of a new measurement of a child's speed. */
static const double weight_of_new = 0.25;

/* Of SHARES: a slower child gets no portion, as a whole share would keep the others waiting. */
static const double least_share = 1.5;

/* A child's part of one range, run on its own thread: nothing in it is shared. */
struct portion {
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

struct child {
    struct backend *backend;
    double speed; /* as a share of all children's speeds; 0: unknown yet */
    int share;    /* of SHARES */
    bool able;    /* to run the task prepared last */
    struct portion portion;
};

struct multi {
    struct backend base;
    int64_t least;
    size_t count, best; /* children; the fastest */
    bool known;         /* speeds are */
    /* The caller's thread runs the fastest child's portion. Each other child keeps its worker while the same children
     * have parts: a driver's first calls on a thread take a millisecond. */
    struct thread_pool *thread_pool;
    struct child children[MOST_CHILDREN];
};

static struct multi *multi_of(struct backend *backend)
{
    return (struct multi *)backend;
}

static struct backend *best_of(struct backend *backend)
{
    return multi_of(backend)->children[multi_of(backend)->best].backend;
}

/* Normalises speeds and assigns shares by them; keeps shares that are about right. */
static void assign_shares(struct multi *multi)
{
    double sum = 0;
    int assigned = 0;
    for (size_t k = 0; k < multi->count; k++)
        sum += multi->children[k].speed;
    for (size_t k = 0; k < multi->count; k++) {
        struct child *child = &multi->children[k];
        child->speed /= sum;
        if (child->speed > multi->children[multi->best].speed)
            multi->best = k;
        const double share = child->speed * SHARES;
        if (share < least_share)
            child->share = 0;
        else if (fabs(share - child->share) > 1.5)
            child->share = (int)lround(share);
    }
    for (size_t k = 0; k < multi->count; k++)
        assigned += multi->children[k].share;
    multi->children[multi->best].share += SHARES - assigned;
}

/* Before anything has been measured: by the defaults for such devices. */
static void assume_speeds(struct multi *multi)
{
    if (multi->known)
        return;
    multi->known = true;
    for (size_t k = 0; k < multi->count; k++) {
        struct child *child = &multi->children[k];
        struct profile profile;
        child->speed = 0;
        if (child->backend->ops->profile(child->backend, true, &profile) == BACKEND_READY)
            child->speed = 1 / cost_model_default(&profile).of[WORK_AGGREGATE].byte;
    }
    double sum = 0;
    for (size_t k = 0; k < multi->count; k++)
        sum += multi->children[k].speed;
    if (sum <= 0)
        multi->children[0].speed = 1;
    assign_shares(multi);
}

/* The first row of a child's portion, counted from the begin of the range. */
static int64_t part_rows_before(const struct multi *multi, const struct job *job, size_t child)
{
    const int64_t rows = job->end - job->begin;
    int before = 0;
    for (size_t k = 0; k < child; k++)
        before += multi->children[k].able ? multi->children[k].share : 0;
    int all = before;
    for (size_t k = child; k < multi->count; k++)
        all += multi->children[k].able ? multi->children[k].share : 0;
    if (before == all)
        return rows;
    return (int64_t)((double)rows * before / all) / UNIT * UNIT;
}

/* Whether the task is split. Not for users' functions, which the first evaluation analyses without locks, nor for
 * columns that are resident on one device. */
static bool is_split(const struct multi *multi, const struct job *job)
{
    const struct task *task = job->task;
    bool shared = task->sink == SINK_AGGREGATE && job->end - job->begin >= 2 * multi->least;
    for (size_t i = 0; i < task->aggregate_count; i++)
        shared =
            shared && task->aggregates[i].kind != AGG_FOLD && !aggregate_in_order(&task->aggregates[i], &task->code);
    for (size_t k = 0; k < task->input_count; k++)
        shared = shared && !(job->columns[k] && job->columns[k]->residency);
    size_t able = 0;
    for (size_t k = 0; k < multi->count; k++)
        able += multi->children[k].able && multi->children[k].share > 0;
    return shared && able > 1;
}

static enum readiness multi_begin(struct backend *backend, const struct job *job)
{
    struct multi *multi = multi_of(backend);
    enum readiness readiness = BACKEND_READY;
    if (!job)
        thread_pool_wake(multi->thread_pool);
    for (size_t k = 0; k < multi->count; k++) {
        const enum readiness one = multi->children[k].backend->ops->begin(multi->children[k].backend, job);
        readiness = one > readiness ? one : readiness;
    }
    return readiness;
}

/* The best child has to be able; others that are not get no portion, without a note. */
static enum status multi_prepare(struct backend *backend, const struct job *job)
{
    struct multi *multi = multi_of(backend);
    assume_speeds(multi);
    const enum status status = best_of(backend)->ops->prepare(best_of(backend), job);
    for (size_t k = 0; k < multi->count; k++)
        multi->children[k].able = k == multi->best;
    const bool shared = job->task->sink == SINK_AGGREGATE && job->end - job->begin >= 2 * multi->least;
    for (size_t k = 0; k < multi->count && shared && status == STATUS_OK; k++) {
        struct child *child = &multi->children[k];
        const size_t before = job->diags->count;
        if (k == multi->best || child->share == 0)
            continue;
        const enum status one = child->backend->ops->prepare(child->backend, job);
        if (one == STATUS_CANCELLED)
            return one;
        child->able = one == STATUS_OK;
        job->diags->count = child->able ? job->diags->count : before;
    }
    return status;
}

static int64_t multi_range_rows(struct backend *backend, const struct job *job)
{
    if (is_split(multi_of(backend), job))
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

/* Uploads and builds happen once and say nothing of a device's speed. */
static int64_t time_without_moving(const struct portion *portion, int64_t ns)
{
    for (size_t i = 0; i < portion->timing.count; i++) {
        const enum phase phase = portion->timing.events[i].phase;
        ns -= phase == PHASE_UPLOAD || phase == PHASE_BUILD ? portion->timing.events[i].ns : 0;
    }
    return ns;
}

/* Runs a child's portion, in ranges of at most its range_rows. */
static void run_part(struct child *child)
{
    struct portion *portion = &child->portion;
    const struct task *task = portion->job.task;
    struct job range = portion->job;
    const int64_t began = now_ns();
    while (range.begin < portion->job.end && portion->status == STATUS_OK && !portion->flagged) {
        if (range.cancel && *range.cancel) {
            portion->status = STATUS_CANCELLED;
            break;
        }
        int64_t most = child->backend->ops->range_rows(child->backend, &portion->job);
        most = most > UNIT ? most / UNIT * UNIT : most;
        range.end = portion->job.end - range.begin > most ? range.begin + most : portion->job.end;
        struct agg_state *states = arena_array(portion->arena, task->aggregate_count, sizeof *states);
        init_states(task, states);
        portion->status = child->backend->ops->aggregate(child->backend, &range, states, &portion->flagged);
        if (portion->status == STATUS_OK)
            merge_states(task, portion->states, states);
        range.begin = range.end;
    }
    portion->ns = time_without_moving(portion, now_ns() - began);
}

static bool is_empty(const struct portion *portion)
{
    return portion->job.begin == portion->job.end;
}

static void run_one(void *context, int number)
{
    struct child *const *children = context;
    children[number]->portion.taken = true;
    run_part(children[number]);
}

/* Runs the parts in parallel; those that got no thread run here afterwards. */
static void run_parts(struct multi *multi)
{
    struct child *children[MOST_CHILDREN] = {&multi->children[multi->best]};
    int count = 1;
    for (size_t k = 0; k < multi->count; k++) {
        if (k != multi->best && !is_empty(&multi->children[k].portion))
            children[count++] = &multi->children[k];
    }
    thread_pool_run(multi->thread_pool, count, run_one, children);
    for (int i = 0; i < count; i++) {
        if (!children[i]->portion.taken)
            run_part(children[i]);
    }
}

static void init_part(const struct multi *multi, size_t k, const struct job *job, struct portion *portion)
{
    *portion = (struct portion){.job = *job, .arena = arena_new()};
    diags_init(&portion->diags, portion->arena);
    timing_init(&portion->timing, portion->arena);
    portion->timing.host_only = !job->timing;
    portion->job.begin = job->begin + part_rows_before(multi, job, k);
    portion->job.end = job->begin + part_rows_before(multi, job, k + 1);
    portion->job.until = portion->job.end;
    portion->job.diags = &portion->diags;
    portion->job.timing = &portion->timing;
    portion->job.progress = NULL; /* reported on the main thread only */
    portion->states = arena_array(portion->arena, job->task->aggregate_count, sizeof *portion->states);
    init_states(job->task, portion->states);
}

/* Copies a part's diagnostics and timing to the job's, with the number of its device. */
static void report_part(const struct portion *portion, size_t k, const struct job *job)
{
    struct arena *arena = job->diags->arena;
    for (size_t i = 0; i < portion->diags.count; i++) {
        const struct diag *diag = &portion->diags.at[i];
        if (diag->severity == SEVERITY_ERROR)
            (void)diag_error(job->diags, diag->span, "%s", diag->message);
        else
            diag_note(job->diags, diag->span, "%s", diag->message);
        if (diag->hint)
            diag_hint(job->diags, "%s", diag->hint);
    }
    for (size_t i = 0; job->timing && i < portion->timing.count; i++) {
        const struct event *event = &portion->timing.events[i];
        timing_add(job->timing, event->phase, arena_printf(arena, "%s, part %zu", event->name, k + 1), event->ns,
                   event->bytes);
    }
}

/* Updates speeds from a parallel run, if all parts were long enough. */
static void learn(struct multi *multi)
{
    double sum = 0;
    for (size_t k = 0; k < multi->count; k++) {
        const struct portion *portion = &multi->children[k].portion;
        const int64_t rows = portion->job.end - portion->job.begin;
        if (rows > 0 && (rows < multi->least || portion->ns <= 0))
            return;
        sum += rows > 0 ? (double)rows / (double)portion->ns : 0;
    }
    for (size_t k = 0; k < multi->count; k++) {
        struct child *child = &multi->children[k];
        const int64_t rows = child->portion.job.end - child->portion.job.begin;
        const double speed = rows > 0 ? (double)rows / (double)child->portion.ns / sum : child->speed;
        child->speed += weight_of_new * (speed - child->speed);
    }
    assign_shares(multi);
}

static enum status run_split(struct multi *multi, const struct job *job, struct agg_state *states, bool *flagged)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < multi->count; k++)
        init_part(multi, k, job, &multi->children[k].portion);
    run_parts(multi);
    for (size_t k = 0; k < multi->count; k++) {
        struct portion *portion = &multi->children[k].portion;
        report_part(portion, k, job);
        if (portion->status != STATUS_OK && (status == STATUS_OK || portion->status == STATUS_FAILED))
            status = portion->status;
        *flagged = *flagged || portion->flagged;
        if (status == STATUS_OK)
            merge_states(job->task, states, portion->states);
    }
    if (status == STATUS_OK && !*flagged)
        learn(multi);
    for (size_t k = 0; k < multi->count; k++) {
        arena_free(multi->children[k].portion.arena);
        multi->children[k].portion = (struct portion){0};
    }
    return status;
}

static enum status multi_aggregate(struct backend *backend, const struct job *job, struct agg_state *states,
                                   bool *flagged)
{
    if (is_split(multi_of(backend), job))
        return run_split(multi_of(backend), job, states, flagged);
    return best_of(backend)->ops->aggregate(best_of(backend), job, states, flagged);
}

static enum status multi_rows(struct backend *backend, const struct job *job, struct row_sink *sink, bool *flagged)
{
    return best_of(backend)->ops->rows(best_of(backend), job, sink, flagged);
}

static enum status multi_run_operator(struct backend *backend, const struct operator_job *job, bool *flagged)
{
    assume_speeds(multi_of(backend));
    return best_of(backend)->ops->run_operator(best_of(backend), job, flagged);
}

static const char *multi_source(struct backend *backend, const struct job *job)
{
    assume_speeds(multi_of(backend));
    return best_of(backend)->ops->source(best_of(backend), job);
}

static enum readiness multi_profile(struct backend *backend, bool wait, struct profile *profile)
{
    return best_of(backend)->ops->profile(best_of(backend), wait, profile);
}

static void multi_sweep(struct backend *backend)
{
    for (size_t k = 0; k < multi_of(backend)->count; k++)
        multi_of(backend)->children[k].backend->ops->sweep(multi_of(backend)->children[k].backend);
}

static void multi_close(struct backend *backend)
{
    struct multi *multi = multi_of(backend);
    thread_pool_free(multi->thread_pool);
    for (size_t k = 0; k < multi->count; k++)
        multi->children[k].backend->ops->close(multi->children[k].backend);
    free(multi);
}

struct backend *multi_device_open(struct backend *const *children, size_t count, int64_t least)
{
    assert(count >= 1 && count <= MOST_CHILDREN);
    static const struct backend_ops ops = {
        .begin = multi_begin,
        .prepare = multi_prepare,
        .range_rows = multi_range_rows,
        .aggregate = multi_aggregate,
        .rows = multi_rows,
        .run_operator = multi_run_operator,
        .source = multi_source,
        .profile = multi_profile,
        .sweep = multi_sweep,
        .close = multi_close,
    };
    struct multi *multi = heap_array(1, sizeof *multi);
    multi->base = (struct backend){.ops = &ops, .name = "all"};
    multi->least = least > 0 ? least : LEAST_ROWS;
    multi->count = count;
    multi->thread_pool = thread_pool_new((int)count);
    for (size_t k = 0; k < count; k++)
        multi->children[k].backend = children[k];
    return &multi->base;
}
