/* Finding the ends of cells, and what is in them. */
#ifndef RQL_ENGINE_TEXT_CELLS_H
#define RQL_ENGINE_TEXT_CELLS_H

#include "base/strbuf.h"
#include "engine/text/table.h"
#include "engine/values/dictionary.h"

/* Sets *cell to the cell at `at` and returns its end: a delimiter, a newline (skipping \r before it) or `end`. NULL:
 * malformed quotes. */
const char *cell_scan(const struct dialect *dialect, const char *at, const char *end, struct cell *cell);

/* cell_scan, but white space around a cell without quotes belongs to it. */
const char *cell_scan_text(const struct dialect *dialect, const char *at, const char *end, struct cell *cell);

/* Skips `count` cells and the delimiter after each; not for JSON. NULL: a problem. */
const char *cells_skip(const struct dialect *dialect, const char *at, const char *end, size_t count,
                       enum problem_kind *problem);

/* The text of a cell, with its quotes and escapes undone, in the file or in `scratch`, which is cleared first. */
struct text cell_text(const struct dialect *dialect, struct cell cell, struct strbuf *scratch);

#endif
