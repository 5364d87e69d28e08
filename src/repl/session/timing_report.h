/* The timing report: where the time of one statement went. */
#ifndef RQL_REPL_SESSION_TIMING_REPORT_H
#define RQL_REPL_SESSION_TIMING_REPORT_H

#include "base/strbuf.h"
#include "base/timing.h"

/* Appends a line for each phase and kernel in the order a query passes them, with GB/s where bytes are known, then
 * printing and the total (nanoseconds). */
void report_timing(struct strbuf *out, const struct timing *timing, int64_t printed, int64_t total);

#endif
