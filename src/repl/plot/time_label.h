/* Labels of axes for dates, timestamps and durations. */
#ifndef RQL_REPL_PLOT_TIME_LABEL_H
#define RQL_REPL_PLOT_TIME_LABEL_H

#include "base/strbuf.h"
#include "engine/values/logical_type.h"

/* The number without its fraction, or the nearest that 64 bits hold. */
int64_t time_of_number(double number);

/* Appends the date or time that a number, which may be rounded, stands for, as exactly as labels so far apart need:
 * 2024-01-31, 2024-01-31T09:30, ... */
void add_time_label(struct strbuf *out, struct logical_type logical, double number, double step);

#endif
