/* What is found out about columns that have been read, for the next queries: what the elements of each zone are within
 * (zonemap.h), and a copy in the narrowest type that holds all of them (narrow_copy.h). A thread of its own finds out,
 * which gets what processor time others leave. It stays with the column, and goes when the column does, as when its
 * file has changed; copies go earlier if others need their memory. */
#ifndef RQL_ENGINE_STORAGE_COLUMN_STATS_H
#define RQL_ENGINE_STORAGE_COLUMN_STATS_H

#include "engine/storage/zonemap.h"

struct stats_collector;

/* With narrow copies of so many bytes at most, made in the memory of `pool`. Columns of more than twice as many bytes
 * are passed over: they might be read from disk once more for nothing. */
struct stats_collector *stats_collector_new(size_t most, struct buffer_pool *pool);
void stats_collector_free(
    struct stats_collector *collector); /* stops finding out; NULL is allowed. Columns may live longer */

/* Notes that a query has read all rows of the column, or looked at its zones. Only the main thread does. */
void stats_collector_add(struct stats_collector *collector, struct column *column);

/* The query has ended: begins to find out about what has been noted. */
void stats_collector_start(struct stats_collector *collector);

/* Eager, it finds out before stats_collector_start returns, about columns of any length and in smaller zones: for
 * tests, and for measuring. Usually columns have to be long for it to pay. */
void stats_collector_set_eager(struct stats_collector *collector, bool eager);
bool stats_collector_is_eager(const struct stats_collector *collector);

/* Waits until everything begun is found out. */
void stats_collector_wait(struct stats_collector *collector);

/* What is known by now, NULL if nothing. The copy is the column's: it stays as long as the query runs. */
const struct zonemap *column_zones(const struct column *column);
struct column *column_narrow(const struct column *column);

#endif
