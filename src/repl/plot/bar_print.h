/* Bars on a terminal. */
#ifndef RQL_REPL_PLOT_BAR_PRINT_H
#define RQL_REPL_PLOT_BAR_PRINT_H

#include "repl/plot/plot_data.h"
#include "repl/print/print.h"

/* Appends a line for each bar: its name, its series if there are several, its value, and the bar from zero on. */
void bars_print(struct strbuf *out, const struct plot_data *data, const struct print_style *style);

#endif
