/* Bars of block characters. */
#ifndef RQL_REPL_PRINT_BAR_H
#define RQL_REPL_PRINT_BAR_H

#include "base/strbuf.h"

/* Appends a bar that fills `part` (0 to 1) of `cells` cells, to the nearest eighth of a cell and at least one: what is
 * there is seen. */
void bar_add(struct strbuf *out, double part, size_t cells);

/* Appends one cell, filled from below to `part` (0 to 1) in eighths: nothing at 0, and otherwise at least one. */
void column_bar_add(struct strbuf *out, double part);

#endif
