/* The neighbours of rows, as runs of rows and what stands beyond the ends of a shape. */
#ifndef RQL_ENGINE_VECTOR_BORDER_ROWS_H
#define RQL_ENGINE_VECTOR_BORDER_ROWS_H

#include "engine/plan/border.h"
#include "engine/storage/column.h"

/* The elements, as the column stores them, that are the neighbours of rows `row` to `row` + count - 1: in the column if
 * they are one run there, else copied to `out`. The shape has as many rows as the column. */
const void *border_rows(const struct column *column, const struct border *border, int64_t row, int count, void *out);

/* progression_rows.c: elements at equal distances, as `reverse` and `x[2 * row]` read them: moved, without computing
 * their positions. */

/* Row r reads the element `first` + r * `by`, which the column has. */
struct progression {
    int64_t first, by;
};

/* The elements, as the column stores them, that rows `row` to `row` + count - 1 read: in the column if they are one run
 * there, else copied to `out`. `by` is not 0. */
const void *progression_rows(const struct column *column, const struct progression *progression, int64_t row, int count,
                             void *out);

#endif
