#include "engine/backend/trace.h"

#include "engine/plan/task_title.h"

#include <string.h>

static int64_t timing_ns(const struct timing *timing, enum phase phase)
{
    int64_t ns = 0;
    for (size_t i = 0; timing && i < timing->count; i++)
        ns += timing->events[i].phase == phase ? timing->events[i].ns : 0;
    return ns;
}

static int64_t timing_bytes(const struct timing *timing, enum phase phase)
{
    int64_t bytes = 0;
    for (size_t i = 0; timing && i < timing->count; i++)
        bytes += timing->events[i].phase == phase ? timing->events[i].bytes : 0;
    return bytes;
}

struct phase_times trace_times(const struct timing *timing)
{
    struct phase_times times = {.bytes = timing_bytes(timing, PHASE_KERNEL),
                                .zones = timing ? timing->zones : 0,
                                .skipped = timing ? timing->skipped : 0};
    for (int phase = 0; phase < PHASE_COUNT; phase++)
        times.ns[phase] = timing_ns(timing, (enum phase)phase);
    return times;
}

void trace_ran(struct run_trace *trace, const char *name)
{
    if (!trace || trace->ran_count == sizeof trace->ran / sizeof *trace->ran)
        return;
    for (size_t i = 0; i < trace->ran_count; i++) {
        if (strcmp(trace->ran[i], name) == 0)
            return;
    }
    trace->ran[trace->ran_count++] = name;
}

/* The backends of the current task, "host, gpu"; clears them for the next one. */
static const char *take_ran(struct run_trace *trace)
{
    struct strbuf text = {0};
    for (size_t i = 0; i < trace->ran_count; i++)
        strbuf_printf(&text, "%s%s", i > 0 ? ", " : "", trace->ran[i]);
    const char *copy = arena_text(trace->arena, text.text ? text.text : "", text.length);
    strbuf_free(&text);
    trace->ran_count = 0;
    return copy;
}

struct task_trace *trace_add(struct run_trace *trace, const struct task *task, int64_t ns,
                             const struct phase_times *before, const struct timing *timing)
{
    trace->tasks = arena_reserve(trace->arena, trace->tasks, trace->count, &trace->capacity, sizeof *trace->tasks);
    struct task_trace *added = &trace->tasks[trace->count++];
    *added = (struct task_trace){.title = stages_title(task, trace->arena), .where = take_ran(trace), .ns = ns};
    added->times = trace_times(timing);
    added->times.bytes -= before->bytes;
    added->times.zones -= before->zones;
    added->times.skipped -= before->skipped;
    for (int phase = 0; phase < PHASE_COUNT; phase++)
        added->times.ns[phase] -= before->ns[phase];
    return added;
}
