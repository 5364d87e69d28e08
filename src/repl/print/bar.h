/* Bars of block characters. */
#ifndef RQL_REPL_PRINT_BAR_H
#define RQL_REPL_PRINT_BAR_H

#include "base/strbuf.h"

/* Appends a horizontal bar that fills `part` (0 to 1) of `cells` cells, in eighths of a cell, at least one eighth. */
void bar_add(struct strbuf *out, double part, size_t cells);

/* Appends one cell, filled from below to `part` (0 to 1) in eighths; at least one eighth unless `part` is 0. */
void column_bar_add(struct strbuf *out, double part);

#endif
