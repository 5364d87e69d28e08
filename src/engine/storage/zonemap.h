/* Zone maps: what the elements of a column are within, for each so many rows of it. */
#ifndef RQL_ENGINE_STORAGE_ZONEMAP_H
#define RQL_ENGINE_STORAGE_ZONEMAP_H

#include "engine/storage/column.h"

#include <stdatomic.h>

/* Of integers and bools lo..hi, of floats low..high; of what has no such elements lo > hi, low > high. */
struct zone {
    int64_t lo, hi;
    double low, high; /* of what is not NaN */
    bool nan;         /* there may be some */
};

struct zonemap {
    int64_t rows; /* of each zone but the last */
    int64_t count;
    struct zone all; /* the whole column */
    struct zone at[];
};

/* Reads the column, which must be in the host's memory. Looks at *stop after each zone; NULL: stopped, or no memory. */
struct zonemap *zonemap_new(const struct column *column, int64_t rows_a_zone, const atomic_bool *stop);
void zonemap_free(struct zonemap *zones); /* NULL is allowed */

/* Rows begin .. end-1, or more. */
struct zone zonemap_over(const struct zonemap *zones, int64_t begin, int64_t end);

/* What is known of any element of the column without looking. */
struct zone zone_unknown(const struct column *column);

#endif
