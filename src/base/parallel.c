#include "base/parallel.h"

#include "base/integer.h"

#include <sched.h>
#include <stdatomic.h>

enum {
    MAX_THREADS = 64,        /* memory bandwidth does not grow beyond */
    PARTS_PER_THREAD = 4,    /* so that a preempted thread leaves its share to the others */
    MAX_PART_ROWS = 1 << 23, /* rows between cancellation checks */
};

int parallel_threads(void)
{
    cpu_set_t usable;
    const int count = sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : 1;
    return count < MAX_THREADS ? count : MAX_THREADS;
}

struct parallel_loop {
    const struct workers *workers;
    int64_t parts;
    part_fn *run;
    void *context;
    _Atomic int64_t next;
};

bool workers_cancelled(const struct workers *workers)
{
    return workers->cancel && *workers->cancel;
}

/* Counts started parts as done: they end soon. */
static void report_parts(const struct parallel_loop *loop)
{
    struct progress_step advance = loop->workers->whole;
    const int64_t started = loop->next;
    advance.part = started < loop->parts ? (double)started / (double)loop->parts : 1;
    progress_report(loop->workers->progress, &advance);
}

static void run_parts(void *context, int member)
{
    struct parallel_loop *loop = context;
    while (!workers_cancelled(loop->workers)) {
        const int64_t part = atomic_fetch_add(&loop->next, 1);
        if (part >= loop->parts)
            break;
        loop->run(loop->context, member, part);
        if (member == 0)
            report_parts(loop);
    }
}

bool workers_run(const struct workers *workers, int64_t parts, part_fn *run, void *context)
{
    if (parts <= 0)
        return !workers_cancelled(workers);
    struct parallel_loop loop = {.workers = workers, .parts = parts, .run = run, .context = context};
    const int threads = parts < workers->threads ? (int)parts : workers->threads;
    struct thread_pool *pool = workers->thread_pool ? workers->thread_pool : thread_pool_new(threads);
    thread_pool_run(pool, threads, run_parts, &loop);
    if (!workers->thread_pool)
        thread_pool_free(pool);
    return loop.next >= parts && !workers_cancelled(workers);
}

struct parts partition_rows(const struct workers *workers, int64_t rows, int64_t min_rows)
{
    int64_t count = divide_up(rows, min_rows);
    int64_t wanted = workers->threads == 1 ? 1 : (int64_t)workers->threads * PARTS_PER_THREAD;
    if (wanted < rows / MAX_PART_ROWS)
        wanted = rows / MAX_PART_ROWS;
    count = count < wanted ? count : wanted;
    if (count > workers->threads)
        count -= count % workers->threads; /* else some have one part more than others */
    const int64_t size = count > 0 ? (rows + count - 1) / count : 0;
    return (struct parts){.rows = rows, .size = size, .count = size > 0 ? (rows + size - 1) / size : 0};
}

int64_t part_begin(const struct parts *parts, int64_t part)
{
    return part < parts->count ? part * parts->size : parts->rows;
}

int64_t begins_of_counts(int64_t *counts, int64_t parts)
{
    int64_t all = 0;
    for (int64_t part = 0; part < parts; part++) {
        const int64_t count = counts[part];
        counts[part] = all;
        all += count;
    }
    return all;
}

struct rows_loop {
    const struct parts *parts;
    rows_fn *run;
    void *context;
};

static void run_rows(void *context, int member, int64_t number)
{
    const struct rows_loop *loop = context;
    loop->run(loop->context,
              (struct part){member, number, part_begin(loop->parts, number), part_begin(loop->parts, number + 1)});
}

bool workers_run_parts(const struct workers *workers, const struct parts *parts, rows_fn *run, void *context)
{
    struct rows_loop loop = {parts, run, context};
    return workers_run(workers, parts->count, run_rows, &loop);
}

bool workers_run_rows(const struct workers *workers, int64_t rows, int64_t min_rows, rows_fn *run, void *context)
{
    const struct parts parts = partition_rows(workers, rows, min_rows);
    return workers_run_parts(workers, &parts, run, context);
}
