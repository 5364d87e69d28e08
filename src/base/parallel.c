#include "base/parallel.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
    MOST_THREADS = 64,        /* more do not make memory faster */
    PARTS_A_THREAD = 4,       /* so that one held up by another process leaves its share to the rest */
    PART_MOST = 1 << 23,      /* rows between two looks at the interrupt */
    HUGE_PAGES_FROM = 4 << 20 /* from here on they save more time in page faults than zeroing one too many costs */
};

int parallel_threads(void)
{
    cpu_set_t usable;
    int count = sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : 1;
    return count < MOST_THREADS ? count : MOST_THREADS;
}

struct shift {
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

/* Parts begun count as done: they end soon. */
static void tell_parts(const struct shift *shift)
{
    struct progress_step advance = shift->workers->whole;
    int64_t begun = shift->next;
    advance.part = begun < shift->parts ? (double)begun / (double)shift->parts : 1;
    progress_report(shift->workers->progress, &advance);
}

static void work(void *context, int number)
{
    struct shift *shift = context;
    while (!workers_cancelled(shift->workers)) {
        int64_t part = atomic_fetch_add(&shift->next, 1);
        if (part >= shift->parts)
            break;
        shift->run(shift->context, number, part);
        if (number == 0)
            tell_parts(shift);
    }
}

bool workers_run(const struct workers *workers, int64_t parts, part_fn *run, void *context)
{
    struct shift shift = {.workers = workers, .parts = parts, .run = run, .context = context};
    int threads = parts < workers->threads ? (int)parts : workers->threads;
    struct thread_pool *thread_pool = workers->thread_pool ? workers->thread_pool : thread_pool_new(threads);
    thread_pool_run(thread_pool, threads, work, &shift);
    if (!workers->thread_pool)
        thread_pool_free(thread_pool);
    return shift.next >= parts;
}

struct parts partition_rows(const struct workers *workers, int64_t rows, int64_t least)
{
    int64_t count = (rows + least - 1) / least;
    int64_t wanted = workers->threads == 1 ? 1 : (int64_t)workers->threads * PARTS_A_THREAD;
    if (wanted < rows / PART_MOST)
        wanted = rows / PART_MOST;
    count = count < wanted ? count : wanted;
    int64_t size = count > 0 ? (rows + count - 1) / count : 0;
    return (struct parts){.rows = rows, .size = size, .count = size > 0 ? (rows + size - 1) / size : 0};
}

int64_t part_begin(const struct parts *parts, int64_t part)
{
    return part < parts->count ? part * parts->size : parts->rows;
}

void *pages_alloc(size_t size)
{
    void *memory =
        mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    if (size >= HUGE_PAGES_FROM)
        madvise(memory, size, MADV_HUGEPAGE);
    return memory;
}

void pages_free(void *memory, size_t size)
{
    if (memory)
        munmap(memory, size ? size : 1);
}
