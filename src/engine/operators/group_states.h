/* The aggregate states of many groups, one array for each aggregate. */
#ifndef RQL_ENGINE_OPERATORS_GROUP_STATES_H
#define RQL_ENGINE_OPERATORS_GROUP_STATES_H

#include <stdint.h>

struct grouping; /* group_find.h */

/* Cells for so many groups, of each tally; NULL: there is no memory. Not yet cleared. */
void **group_states_new(const struct grouping *grouping, int64_t groups);
void group_states_free(const struct grouping *grouping, void **states, int64_t groups);
void group_states_clear(const struct grouping *grouping, void **states, int64_t begin, int64_t count);

/* Adds rows, from `row` on or those listed, to the cells of their places. */
void group_states_add(const struct grouping *grouping, void **states, const uint32_t *places, int64_t row, int count);
void group_states_add_at(const struct grouping *grouping, void **states, const uint32_t *places, const uint64_t *rows,
                         int count);
void group_states_merge(const struct grouping *grouping, void **into, int64_t place, void *const *from, int64_t other);

#endif
