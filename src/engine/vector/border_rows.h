/* The neighbours of rows, as runs of rows and what stands beyond the ends of a shape. */
#ifndef RQL_ENGINE_VECTOR_BORDER_ROWS_H
#define RQL_ENGINE_VECTOR_BORDER_ROWS_H

#include "engine/plan/border.h"
#include "engine/storage/column.h"

/* The elements, as the column stores them, that are the neighbours of rows `row` to `row` + count - 1: in the column if
 * they are one run there, else copied to `out`. The shape has as many rows as the column. */
const void *border_rows(const struct column *column, const struct border *border, int64_t row, int count, void *out);

#endif
