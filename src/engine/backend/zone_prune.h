/* Which rows of a task its filters may keep, as far as the zones of its columns tell. */
#ifndef RQL_ENGINE_BACKEND_ZONE_PRUNE_H
#define RQL_ENGINE_BACKEND_ZONE_PRUNE_H

#include "engine/backend/backend.h"

struct stats_collector; /* column_stats.h */

struct row_ranges {
    int64_t *begins, *ends; /* runs of rows, in order, with gaps between them */
    size_t count;
    int64_t zones, skipped; /* zones looked at, and those that no run holds */
};

/* For the rows begin .. end-1 of the job; its columns' zones are looked up (column_stats.h), and row numbers need none.
 * Rows that pass are never left out, nor any that would fail the query; gaps that are not worth interrupting a run for
 * are left in. Without a keeper these are all rows. */
void zone_prune(struct row_ranges *ranges, const struct job *job, const struct stats_collector *collector,
                struct arena *arena);

/* How many there are from `row` on. */
int64_t row_ranges_rows(const struct row_ranges *ranges, int64_t row);

/* Moves *row on to the next row of a run, itself perhaps, and sets *end to that run's end. False: there is none. */
bool row_ranges_next(const struct row_ranges *ranges, int64_t *row, int64_t *end);

#endif
