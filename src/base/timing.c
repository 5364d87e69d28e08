#include "base/timing.h"

#include <string.h>
#include <time.h>

void timing_init(struct timing *timing, struct arena *arena)
{
    *timing = (struct timing){.arena = arena};
}

int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t processor_ns(void)
{
    struct timespec spent;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return (int64_t)spent.tv_sec * 1000000000 + spent.tv_nsec;
}

void timing_add(struct timing *timing, enum phase phase, const char *name, int64_t ns, int64_t bytes)
{
    if (!timing)
        return;
    for (size_t i = 0; i < timing->count; i++) {
        struct event *event = &timing->events[i];
        if (event->phase == phase && strcmp(event->name, name) == 0) {
            event->ns += ns;
            event->bytes += bytes;
            return;
        }
    }
    *ARENA_PUSH(timing->arena, timing->events, timing->count, timing->capacity) =
        (struct event){.phase = phase, .name = arena_text(timing->arena, name, strlen(name)), .ns = ns, .bytes = bytes};
}

void timing_add_files(struct timing *timing, int64_t files, int64_t opened)
{
    if (!timing)
        return;
    timing->files += files;
    timing->opened += opened;
}

void timing_add_zones(struct timing *timing, int64_t zones, int64_t skipped)
{
    if (timing) {
        timing->zones += zones;
        timing->skipped += skipped;
    }
}
