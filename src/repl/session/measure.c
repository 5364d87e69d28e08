#include "repl/session/measure.h"

#include "base/integer.h"
#include "base/parallel.h"
#include "base/timing.h"
#include "base/zeroed.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum status measure_once(const struct runner *runner, const struct stmt *query, struct arena *arena,
                         struct measurement *measurement, struct result *result, struct diags *diags)
{
    struct runner measured = *runner;
    struct timing timing;
    timing_init(&timing, arena);
    measurement->trace = (struct run_trace){.arena = arena};
    measured.timing = &timing;
    measured.trace = &measurement->trace;
    const int64_t began = now_ns();
    const enum status status = run_statement(&measured, query, arena, result, diags);
    measurement->ns = now_ns() - began;
    measurement->times = trace_times(&timing);
    return status;
}

enum status measure_repeated(const struct runner *runner, const struct stmt *query, int max_runs, int64_t enough_ns,
                             struct arena *arena, struct measurements *measurements, struct diags *diags)
{
    enum status status = STATUS_OK;
    int64_t spent = 0, best = INT64_MAX;
    *measurements = (struct measurements){.ns = arena_array(arena, (size_t)max_runs, sizeof(int64_t))};
    while (measurements->count < max_runs && (spent < enough_ns || measurements->count == 0)) {
        struct arena *own = arena_new();
        struct measurement run;
        struct result result;
        status = measure_once(runner, query, own, &run, &result, diags);
        result_release(&result);
        arena_free(own);
        if (status != STATUS_OK)
            break;
        const int64_t ns = run.ns - run.times.ns[PHASE_BUILD];
        if (ns < best)
            measurements->best = run.times;
        best = ns < best ? ns : best;
        measurements->ns[measurements->count++] = ns;
        measurements->build_ns += run.times.ns[PHASE_BUILD];
        spent += run.ns;
    }
    qsort(measurements->ns, (size_t)measurements->count, sizeof *measurements->ns, compare_int64);
    return status;
}

enum { READ_PASSES = 16, READ_PARTS = 64, PRESENT = 1, ABSENT = 2 };

struct reading {
    const char *memory;
    atomic_bool found; /* the byte that is absent */
};

/* memchr is the fastest portable reader. */
static void read_part(void *context, struct part part)
{
    struct reading *reading = context;
    int64_t begin = part.begin, end = part.end;
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
    struct reading reading = {.memory = memory};
    memset(memory, PRESENT, (size_t)bytes); /* untouched pages all map to one zero page */
    for (int pass = 0; pass < READ_PASSES; pass++) {
        const int64_t began = now_ns();
        (void)workers_run_rows(&workers, bytes, bytes / READ_PARTS, read_part, &reading);
        const double rate = (double)bytes / (double)(now_ns() - began);
        best = rate > best ? rate : best;
    }
    zeroed_free(memory, (size_t)bytes);
    return best;
}
