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
    const struct crew *crew;
    int64_t parts;
    part_fn *run;
    void *context;
    _Atomic int64_t next;
};

bool crew_cancelled(const struct crew *crew)
{
    return crew->cancel && *crew->cancel;
}

/* Parts begun count as done: they end soon. */
static void tell_parts(const struct shift *shift)
{
    struct advance advance = shift->crew->whole;
    int64_t begun = shift->next;
    advance.part = begun < shift->parts ? (double)begun / (double)shift->parts : 1;
    progress_tell(shift->crew->progress, &advance);
}

static void work(void *context, int number)
{
    struct shift *shift = context;
    while (!crew_cancelled(shift->crew)) {
        int64_t part = atomic_fetch_add(&shift->next, 1);
        if (part >= shift->parts)
            break;
        shift->run(shift->context, number, part);
        if (number == 0)
            tell_parts(shift);
    }
}

bool crew_run(const struct crew *crew, int64_t parts, part_fn *run, void *context)
{
    struct shift shift = {.crew = crew, .parts = parts, .run = run, .context = context};
    int threads = parts < crew->threads ? (int)parts : crew->threads;
    struct team *team = crew->team ? crew->team : team_new(threads);
    team_run(team, threads, work, &shift);
    if (!crew->team)
        team_free(team);
    return shift.next >= parts;
}

struct parts parts_of(const struct crew *crew, int64_t rows, int64_t least)
{
    int64_t count = (rows + least - 1) / least;
    int64_t wanted = crew->threads == 1 ? 1 : (int64_t)crew->threads * PARTS_A_THREAD;
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

void *bulk_new(size_t size)
{
    void *memory =
        mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    if (size >= HUGE_PAGES_FROM)
        madvise(memory, size, MADV_HUGEPAGE);
    return memory;
}

void bulk_free(void *memory, size_t size)
{
    if (memory)
        munmap(memory, size ? size : 1);
}
