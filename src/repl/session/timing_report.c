#include "repl/session/timing_report.h"

#include "base/path.h"

#include <string.h>

static const char *const phase_words[PHASE_COUNT] = {
    [PHASE_PARSE] = "parsed",    [PHASE_MAP] = "mapped",    [PHASE_FIND] = "found",
    [PHASE_BIND] = "bound",      [PHASE_FUSE] = "fused",    [PHASE_BUILD] = "built",
    [PHASE_UPLOAD] = "uploaded", [PHASE_KERNEL] = "kernel", [PHASE_RETRIEVE] = "retrieved",
};

static void report_line(struct strbuf *out, const char *word, const char *name, int64_t ns, int64_t bytes)
{
    strbuf_printf(out, "%-9s %11.3f ms", word, (double)ns / 1e6);
    if (bytes > 0 && ns > 0)
        strbuf_printf(out, " %8.2f GB/s", (double)bytes / (double)ns);
    else if (name && *name)
        strbuf_printf(out, " %13s", "");
    if (name && *name) {
        strbuf_puts(out, "  ");
        strbuf_add_visible(out, name, strlen(name));
    }
    strbuf_putc(out, '\n');
}

void report_timing(struct strbuf *out, const struct timing *timing, int64_t printed_ns, int64_t total_ns)
{
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        for (size_t i = 0; i < timing->count; i++) {
            const struct event *event = &timing->events[i];
            if ((int)event->phase != phase)
                continue;
            const char *name =
                phase == PHASE_MAP || phase == PHASE_FIND ? path_of_file(event->name, timing->arena) : event->name;
            report_line(out, phase_words[phase], name, event->ns, event->bytes);
        }
    }
    if (timing->files > 0)
        strbuf_printf(out, "%-9s %5lld of %lld files\n", "opened", (long long)timing->opened, (long long)timing->files);
    if (timing->skipped > 0)
        strbuf_printf(out, "%-9s %5lld of %lld zones, where no row can match\n", "skipped", (long long)timing->skipped,
                      (long long)timing->zones);
    report_line(out, "printed", NULL, printed_ns, 0);
    report_line(out, "total", NULL, total_ns, 0);
}

void report_traffic(struct strbuf *out, const struct table_traffic *before, const struct table_traffic *after)
{
    const long long queries = after->queries - before->queries, rows = after->rows - before->rows;
    if (queries == 0)
        return;
    strbuf_printf(out, "%-9s %11.3f ms  %lld quer%s", "servers",
                  (double)(after->nanoseconds - before->nanoseconds) / 1e6, queries, queries == 1 ? "y" : "ies");
    if (after->queries_told > before->queries_told)
        strbuf_printf(out, ", %lld rows read there", (long long)(after->rows_read - before->rows_read));
    strbuf_printf(out, ", %lld row%s and %lld bytes came over\n", rows, rows == 1 ? "" : "s",
                  (long long)(after->bytes - before->bytes));
}

void report_received(struct strbuf *out, const struct remote_traffic *before, const struct remote_traffic *after)
{
    const long long requests = after->requests - before->requests;
    if (requests > 0)
        strbuf_printf(out, "%-9s %11.3f ms  %lld request%s, %lld bytes came over\n", "addresses",
                      (double)(after->nanoseconds - before->nanoseconds) / 1e6, requests, requests == 1 ? "" : "s",
                      (long long)(after->bytes - before->bytes));
}

void report_repeats(struct strbuf *out, const struct measurements *runs, bool interrupted)
{
    if (runs->count == 0) {
        strbuf_puts(out, interrupted ? "interrupted\n" : "");
        return;
    }
    const int64_t median = runs->ns[runs->count / 2];
    strbuf_printf(out, "minimum   %11.3f ms\nmedian    %11.3f ms  of %d more run%s", (double)runs->ns[0] / 1e6,
                  (double)median / 1e6, runs->count, runs->count == 1 ? "" : "s");
    if (runs->build_ns > 0)
        strbuf_printf(out, ", excluding %.3f ms of building", (double)runs->build_ns / 1e6);
    strbuf_puts(out, interrupted ? ", then interrupted\n" : "\n");
}
