#include "engine/backend/trace.h"

#include "engine/plan/task_title.h"

#include <string.h>

struct phase_times trace_times(const struct timing *timing)
{
    struct phase_times times = {0};
    for (size_t i = 0; timing && i < timing->count; i++) {
        const struct event *event = &timing->events[i];
        times.ns[event->phase] += event->ns;
        times.bytes += event->phase == PHASE_KERNEL ? event->bytes : 0;
    }
    if (timing) {
        times.zones = timing->zones;
        times.skipped = timing->skipped;
    }
    return times;
}

void trace_ran(struct run_trace *trace, const char *name)
{
    if (trace && trace->ran_count < sizeof trace->ran / sizeof *trace->ran &&
        !ROW_NAMED(trace->ran, trace->ran_count, name))
        trace->ran[trace->ran_count++] = name;
}

/* The backends of the current task, "host, gpu"; clears them for the next one. */
static const char *take_ran(struct run_trace *trace)
{
    struct strbuf text = {0};
    for (size_t i = 0; i < trace->ran_count; i++)
        strbuf_printf(&text, "%s%s", i > 0 ? ", " : "", trace->ran[i]);
    trace->ran_count = 0;
    return strbuf_take(&text, trace->arena);
}

struct task_trace *trace_add(struct run_trace *trace, const struct task *task, int64_t ns,
                             const struct phase_times *before, const struct timing *timing)
{
    struct task_trace *added = ARENA_PUSH(trace->arena, trace->tasks, trace->count, trace->capacity);
    *added = (struct task_trace){.title = stages_title(task, trace->arena), .where = take_ran(trace), .ns = ns};
    added->times = trace_times(timing);
    added->times.bytes -= before->bytes;
    added->times.zones -= before->zones;
    added->times.skipped -= before->skipped;
    for (int phase = 0; phase < PHASE_COUNT; phase++)
        added->times.ns[phase] -= before->ns[phase];
    return added;
}
