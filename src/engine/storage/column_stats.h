/* Column statistics, collected after a column was read for later queries: a zone map (zonemap.h) and a copy in the
 * narrowest type that holds all elements (narrow_copy.h). A background thread of low priority collects them. They
 * belong to the column and are freed with it, for example when its file has changed; copies are dropped earlier if
 * other columns need the memory. */
#ifndef RQL_ENGINE_STORAGE_COLUMN_STATS_H
#define RQL_ENGINE_STORAGE_COLUMN_STATS_H

#include "engine/storage/zonemap.h"

struct stats_collector;

/* A collector whose narrow copies take at most `max_copies` bytes from `pool`. Columns larger than twice that are
 * skipped: they might have to be read from disk again for nothing. */
struct stats_collector *stats_collector_new(size_t max_copies, struct buffer_pool *pool);

/* Stops the thread. NULL is allowed. Columns may outlive the collector. */
void stats_collector_free(struct stats_collector *collector);

/* Registers that a query has read all rows of the column, or used its zone map. Main thread only. */
void stats_collector_add(struct stats_collector *collector, struct column *column);

/* Starts collecting for the registered columns, after a query has ended. */
void stats_collector_start(struct stats_collector *collector);

/* An eager collector finishes within stats_collector_start and covers columns of any length with smaller zones: for
 * tests and measurements. By default only long columns are worth it. */
void stats_collector_set_eager(struct stats_collector *collector, bool eager);
bool stats_collector_is_eager(const struct stats_collector *collector);

/* Waits until the thread is idle. */
void stats_collector_wait(struct stats_collector *collector);

/* The zone map, and the copy in the narrowest type, as far as they have been collected; else NULL. Both belong to the
 * column and stay at least as long as the query runs. */
const struct zonemap *column_zones(const struct column *column);
struct column *column_narrow(const struct column *column);

#endif
