/* Elements at equal distances, as `reverse` and `x[2 * row]` read them: moved, without computing their positions. */
#ifndef RQL_ENGINE_VECTOR_PROGRESSION_ROWS_H
#define RQL_ENGINE_VECTOR_PROGRESSION_ROWS_H

#include "engine/storage/column.h"

/* Row r reads the element `first` + r * `by`, which the column has. */
struct progression {
    int64_t first, by;
};

/* The elements, as the column stores them, that rows `row` to `row` + count - 1 read: in the column if they are one run
 * there, else copied to `out`. `by` is not 0. */
const void *progression_rows(const struct column *column, const struct progression *progression, int64_t row, int count,
                             void *out);

#endif
