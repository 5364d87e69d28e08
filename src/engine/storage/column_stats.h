/* What is found out about columns that have been read, for the next queries: what the elements of each zone are within
 * (zones.h), and a copy in the narrowest type that holds all of them (narrow.h). A thread of its own finds out, which
 * gets what processor time others leave. It stays with the column, and goes when the column does, as when its file
 * has changed; copies go earlier if others need their memory. */
#ifndef RQL_ENGINE_STORAGE_COLUMN_STATS_H
#define RQL_ENGINE_STORAGE_COLUMN_STATS_H

#include "engine/storage/zonemap.h"

struct keeper;

/* With narrow copies of so many bytes at most, made in the memory of `pool`. Columns of more than twice as many bytes
 * are passed over: they might be read from disk once more for nothing. */
struct keeper *keeper_new(size_t most, struct pool *pool);
void keeper_free(struct keeper *keeper); /* stops finding out; NULL is allowed. Columns may live longer */

/* Notes that a query has read all rows of the column, or looked at its zones. Only the main thread does. */
void keeper_note(struct keeper *keeper, struct column *column);

/* The query has ended: begins to find out about what has been noted. */
void keeper_begin(struct keeper *keeper);

/* Eager, it finds out before keeper_begin returns, about columns of any length and in smaller zones: for tests, and for
 * measuring. Usually columns have to be long for it to pay. */
void keeper_be_eager(struct keeper *keeper, bool eager);
bool keeper_is_eager(const struct keeper *keeper);

/* Waits until everything begun is found out. */
void keeper_settle(struct keeper *keeper);

/* What is known by now, NULL if nothing. The copy is the column's: it stays as long as the query runs. */
const struct zones *column_zones(const struct column *column);
struct column *column_narrow(const struct column *column);

#endif
