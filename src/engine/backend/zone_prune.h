/* Zone pruning: which rows of a task its filters may keep, by the zone maps of its columns. */
#ifndef RQL_ENGINE_BACKEND_ZONE_PRUNE_H
#define RQL_ENGINE_BACKEND_ZONE_PRUNE_H

#include "engine/backend/backend.h"

struct stats_collector; /* column_stats.h */

struct row_ranges {
    int64_t *begins, *ends; /* in order, with gaps between them */
    size_t count;
    int64_t zones, skipped; /* zones checked, and those in no range */
};

/* Finds the ranges of rows begin .. end-1 of the job, from the zone maps of its columns (column_stats.h) and from row
 * numbers. They cover all rows that pass, all that would fail the query, and gaps too short to be worth a new range.
 * Without a collector they are all rows. Allocates in `arena`. */
void zone_prune(struct row_ranges *ranges, const struct job *job, const struct stats_collector *collector,
                struct arena *arena);

/* The number of rows from `row` on. */
int64_t row_ranges_rows(const struct row_ranges *ranges, int64_t row);

/* Advances *row to the first row in a range at or behind it, and sets *end to that range's end. False: there is none.
 */
bool row_ranges_next(const struct row_ranges *ranges, int64_t *row, int64_t *end);

#endif
