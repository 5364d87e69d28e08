/* Loops over rows on all threads. Which thread evaluates a row does not matter: values are pure. */
#include "engine/exact/exact_lazy.h"

enum {
    PART_ROWS = 512,
    PASS_ROWS = 1 << 18 /* between progress reports */
};

struct row_loop {
    struct exact *exact;
    size_t task;
    int64_t begin, end;
    exact_row_fn *fn;
    const void *context;
    _Atomic int64_t failed; /* the first row found so far for which fn failed */
};

/* An evaluator of the same queue for another thread. */
static void make_member(const struct exact *exact, struct exact *member)
{
    *member = (struct exact){.arena = arena_new(), .task_count = exact->task_count};
    member->tasks = arena_array(member->arena, member->task_count, sizeof *member->tasks);
    for (size_t t = 0; t < member->task_count; t++) {
        if (exact->tasks[t].task)
            lazy_init(&member->tasks[t], exact->tasks[t].task, exact->tasks[t].columns, member->arena);
    }
}

/* Copies what the caller's evaluator has computed to a member. */
static void update_member(const struct exact *exact, struct exact *member)
{
    member->row_counts = exact->row_counts;
    member->cancel = exact->cancel;
    member->columns = exact->columns;
    for (size_t t = 0; t < member->task_count; t++) {
        struct lazy_task *lazy = &member->tasks[t];
        const struct lazy_task own = *lazy;
        *lazy = exact->tasks[t];
        lazy->row = own.row;
        lazy->memo = own.memo;
        lazy->computed = own.computed;
        lazy->loops = own.loops;
    }
}

void exact_update_members(struct exact *exact)
{
    const int threads = exact->workers.threads;
    const bool made = exact->members;
    if (!made)
        exact->members = arena_array(exact->arena, (size_t)threads, sizeof *exact->members);
    for (int i = 0; i < threads; i++) {
        if (!made)
            make_member(exact, &exact->members[i]);
        update_member(exact, &exact->members[i]);
    }
}

static void note_failure(struct row_loop *loop, int64_t i)
{
    int64_t failed = loop->failed;
    while (i < failed && !atomic_compare_exchange_weak(&loop->failed, &failed, i))
        ;
}

static void run_part(void *context, int number, int64_t part)
{
    struct row_loop *loop = context;
    struct exact *member = &loop->exact->members[number];
    struct lazy_task *lazy = &member->tasks[loop->task];
    const int64_t begin = loop->begin + part * PART_ROWS;
    const int64_t end = loop->end - begin > PART_ROWS ? begin + PART_ROWS : loop->end;
    enum status status = STATUS_OK;
    for (int64_t i = begin; i < end && i < loop->failed && status == STATUS_OK; i++) {
        status = loop->fn(member, lazy, i, loop->context);
        if (status == STATUS_FAILED)
            note_failure(loop, i);
    }
}

static bool is_cancelled(const struct exact *exact)
{
    return exact->cancel && *exact->cancel;
}

enum status exact_find_failure(struct exact *exact, struct lazy_task *lazy, int64_t begin, int64_t end,
                               exact_row_fn *fn, const void *context, int64_t *failed)
{
    struct row_loop loop = {
        .exact = exact,
        .task = (size_t)(lazy - exact->tasks),
        .begin = begin,
        .end = end,
        .fn = fn,
        .context = context,
        .failed = end,
    };
    *failed = end;
    if (begin == end)
        return STATUS_OK;
    exact_update_members(exact);
    (void)workers_run(&exact->workers, (end - begin + PART_ROWS - 1) / PART_ROWS, run_part, &loop);
    *failed = loop.failed;
    return is_cancelled(exact) ? STATUS_CANCELLED : STATUS_OK;
}

enum status exact_for_rows(struct exact *exact, struct lazy_task *lazy, int64_t begin, int64_t end, exact_row_fn *fn,
                           const void *context)
{
    enum status status = STATUS_OK;
    for (int64_t done = begin; done < end && status == STATUS_OK;) {
        int64_t next = end - done > PASS_ROWS ? done + PASS_ROWS : end, failed;
        status = exact_find_failure(exact, lazy, done, next, fn, context, &failed);
        if (status == STATUS_OK && failed < next)
            status = fn(exact, lazy, failed, context);
        if (end - begin > PASS_ROWS)
            exact_report(exact, lazy, next - begin, end - begin);
        done = next;
    }
    return status;
}

void exact_report(const struct exact *exact, const struct lazy_task *lazy, int64_t done, int64_t rows)
{
    if (!exact->progress)
        return;
    struct progress_step step = {.what = lazy->title, .rows = rows, .part = (double)done / (double)rows};
    progress_report(exact->progress, &step);
}
