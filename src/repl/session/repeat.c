/* `.timing N`: a query run again and again, for times that do not depend on luck. */
#include "repl/session/session.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* After the ^C that the terminal shows. */
static void begin_line(struct strbuf *report)
{
    struct strbuf text = {0};
    strbuf_putc(&text, '\n');
    strbuf_add(&text, report->text ? report->text : "", report->length);
    strbuf_free(report);
    *report = text;
}

/* Of the `done` runs that have ended; Ctrl-C has kept the others from it. */
static void tell_times(struct strbuf *report, int64_t *ns, int done, int64_t built, bool interrupted)
{
    qsort(ns, (size_t)done, sizeof *ns, compare);
    strbuf_printf(report, "minimum   %11.3f ms\nmedian    %11.3f ms  of %d more run%s", (double)ns[0] / 1e6,
                  (double)ns[done / 2] / 1e6, done, done == 1 ? "" : "s");
    if (built > 0)
        strbuf_printf(report, ", without %.3f ms of building", (double)built / 1e6);
    strbuf_puts(report, interrupted ? ", then interrupted\n" : "\n");
}

enum status repeat_query(struct shell *shell, const struct stmt *stmt, int times, struct strbuf *report,
                         struct diags *diags)
{
    struct timing *before = shell->runner.timing;
    struct arena *arena = arena_new();
    int64_t *ns = arena_array(arena, (size_t)times, sizeof *ns);
    int64_t built = 0;
    int done = 0;
    enum status status = STATUS_OK;
    while (done < times && status == STATUS_OK) {
        struct arena *own = arena_new();
        struct timing timing;
        struct result result;
        timing_init(&timing, own);
        shell->runner.timing = &timing;
        int64_t began = now_ns();
        status = run_statement(&shell->runner, stmt, own, &result, diags);
        int64_t build = timing_ns(&timing, PHASE_BUILD);
        if (status == STATUS_OK) {
            ns[done++] = now_ns() - began - build;
            built += build;
        }
        result_release(&result);
        arena_free(own);
    }
    shell->runner.timing = before;
    bool interrupted = status == STATUS_CANCELLED;
    if (interrupted && shell->prompting)
        begin_line(report);
    if (done > 0 && (status == STATUS_OK || interrupted))
        tell_times(report, ns, done, built, interrupted);
    else if (interrupted)
        strbuf_puts(report, "interrupted\n");
    arena_free(arena);
    return status;
}
