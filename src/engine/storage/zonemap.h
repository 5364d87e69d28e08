/* Zone maps: min and max of each block of rows. */
#ifndef RQL_ENGINE_STORAGE_ZONEMAP_H
#define RQL_ENGINE_STORAGE_ZONEMAP_H

#include "engine/storage/column.h"

#include <stdatomic.h>

/* The range of a zone: lo..hi for integers and bools, low..high for floats; empty (lo > hi, low > high) for the other
 * kind. */
struct zone {
    int64_t lo, hi;
    double low, high; /* of elements that are not NaN */
    bool nan;         /* some elements may be NaN */
};

struct zonemap {
    int64_t rows; /* rows per zone, the last may be shorter */
    int64_t count;
    struct zone all; /* the whole column */
    struct zone at[];
};

/* Computes the zone map of a column whose rows are on the host. Checks *stop, which may be NULL, after each zone. NULL:
 * stopped or no memory. */
struct zonemap *zonemap_new(const struct column *column, int64_t zone_rows, const atomic_bool *stop);
void zonemap_free(struct zonemap *zones); /* NULL is allowed */

/* The range of rows begin..end-1, or a wider one. */
struct zone zonemap_over(const struct zonemap *zones, int64_t begin, int64_t end);

/* The range of elements begin..end-1, of which there is one or more, of an array of this type. */
struct zone zone_of_elements(enum type type, const void *elements, int64_t begin, int64_t end);

/* The range implied by the column's type and known range, without reading it. */
struct zone zone_unknown(const struct column *column);

#endif
