/* `.timing N`: a query run again and again, for times that do not depend on luck. */
#include "shell.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

enum status repeat_query(struct shell *shell, const struct stmt *stmt, int times, struct strbuf *report,
                         struct diags *diags)
{
    struct timing *before = shell->runner.timing;
    struct arena *arena = arena_new();
    int64_t *ns = arena_array(arena, (size_t)times, sizeof *ns);
    int64_t built = 0;
    enum status status = STATUS_OK;
    for (int i = 0; i < times && status == STATUS_OK; i++) {
        struct arena *own = arena_new();
        struct timing timing;
        struct result result;
        timing_init(&timing, own);
        shell->runner.timing = &timing;
        int64_t began = now_ns();
        status = run_statement(&shell->runner, stmt, own, &result, diags);
        int64_t build = timing_ns(&timing, PHASE_BUILD);
        ns[i] = now_ns() - began - build;
        built += build;
        result_release(&result);
        arena_free(own);
    }
    shell->runner.timing = before;
    if (status == STATUS_OK) {
        qsort(ns, (size_t)times, sizeof *ns, compare);
        strbuf_printf(report, "minimum   %11.3f ms\nmedian    %11.3f ms  of %d more runs", (double)ns[0] / 1e6,
                      (double)ns[times / 2] / 1e6, times);
        if (built > 0) {
            strbuf_printf(report, ", without %.3f ms of building", (double)built / 1e6);
        }
        strbuf_putc(report, '\n');
    }
    arena_free(arena);
    return status;
}
