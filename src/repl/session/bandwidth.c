#include "repl/session/bandwidth.h"

#include "base/parallel.h"
#include "base/timing.h"
#include "base/zeroed.h"

#include <stdatomic.h>
#include <string.h>

enum { READ_PASSES = 16, READ_PARTS = 64, PRESENT = 1, ABSENT = 2 };

struct reading {
    const char *memory;
    struct parts parts;
    atomic_bool found; /* the byte that is absent */
};

/* memchr is the fastest portable reader. */
static void read_part(void *context, int member, int64_t part)
{
    (void)member;
    struct reading *reading = context;
    int64_t begin = part_begin(&reading->parts, part), end = part_begin(&reading->parts, part + 1);
    if (memchr(reading->memory + begin, ABSENT, (size_t)(end - begin)))
        atomic_store(&reading->found, true);
}

double read_bandwidth(int64_t bytes)
{
    const struct workers workers = {.threads = parallel_threads()};
    char *memory = zeroed_alloc((size_t)bytes);
    double best = 0;
    if (!memory)
        return 0;
    struct reading reading = {.memory = memory, .parts = partition_rows(&workers, bytes, bytes / READ_PARTS)};
    memset(memory, PRESENT, (size_t)bytes); /* untouched pages all map to one zero page */
    for (int pass = 0; pass < READ_PASSES; pass++) {
        const int64_t began = now_ns();
        (void)workers_run(&workers, reading.parts.count, read_part, &reading);
        const double rate = (double)bytes / (double)(now_ns() - began);
        best = rate > best ? rate : best;
    }
    zeroed_free(memory, (size_t)bytes);
    return best;
}
