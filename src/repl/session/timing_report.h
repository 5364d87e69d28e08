/* `.timing`: where the time of a statement went. */
#ifndef RQL_REPL_SESSION_TIMING_REPORT_H
#define RQL_REPL_SESSION_TIMING_REPORT_H

#include "repl/session/measure.h"

#include "base/strbuf.h"
#include "engine/formats/open_file.h"
#include "engine/remote/remote.h"

/* Appends a line for each phase and kernel in execution order, with GB/s where the bytes are known, then printing and
 * the total (ns). */
void report_timing(struct strbuf *out, const struct timing *timing, int64_t printed_ns, int64_t total_ns);

/* Appends the traffic with servers between two moments, if there was any: time, rows read by servers, where they report
 * it, and bytes received. */
void report_traffic(struct strbuf *out, const struct table_traffic *before, const struct table_traffic *after);

/* The same of files at addresses. */
void report_received(struct strbuf *out, const struct remote_traffic *before, const struct remote_traffic *after);

/* Appends minimum and median of repeated runs; `interrupted`: Ctrl-C ended them early. */
void report_repeats(struct strbuf *out, const struct measurements *runs, bool interrupted);

#endif
