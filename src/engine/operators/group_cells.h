/* The aggregate states of many groups, one array for each aggregate. */
#ifndef RQL_ENGINE_OPERATORS_GROUP_CELLS_H
#define RQL_ENGINE_OPERATORS_GROUP_CELLS_H

#include <stdint.h>

struct grouping; /* group_find.h */

/* Cells for so many groups, of each tally; NULL: there is no memory. Not yet cleared. */
void **cells_new(const struct grouping *grouping, int64_t groups);
void cells_free(const struct grouping *grouping, void **cells, int64_t groups);
void cells_clear(const struct grouping *grouping, void **cells, int64_t begin, int64_t count);

/* Adds rows, from `row` on or those listed, to the cells of their places. */
void cells_add(const struct grouping *grouping, void **cells, const uint32_t *places, int64_t row, int count);
void cells_add_at(const struct grouping *grouping, void **cells, const uint32_t *places, const uint64_t *rows,
                  int count);
void cells_merge(const struct grouping *grouping, void **into, int64_t place, void *const *from, int64_t other);

#endif
