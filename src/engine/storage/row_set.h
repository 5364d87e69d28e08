/* Some rows of a column or file, as ranges. */
#ifndef RQL_ENGINE_STORAGE_ROW_SET_H
#define RQL_ENGINE_STORAGE_ROW_SET_H

#include "base/arena.h"
#include "base/parallel.h"
#include "engine/storage/column.h"

/* Ranges that are not empty, in ascending order, and do not touch. */
struct row_set {
    struct arena *arena; /* owns the arrays */
    size_t count, capacity;
    int64_t *begins, *ends;
    int64_t *places; /* of each range, how many rows of the set precede it */
    int64_t rows;
};

/* An empty set, whose memory is the arena's. */
void row_set_init(struct row_set *set, struct arena *arena);

/* Adds rows begin..end-1, none of which precedes one that is in the set. */
void row_set_add(struct row_set *set, int64_t begin, int64_t end);

/* Adds the rows that the column of integers lists in ascending order to the set, which is empty, on all threads. False:
 * cancelled. */
bool row_set_add_listed(struct row_set *set, const struct column *numbers, const struct workers *workers);

/* The first range with rows at or behind this one; set->count: there is none. */
size_t row_set_find(const struct row_set *set, int64_t row);

/* How many rows of the set are below `row`. */
int64_t row_set_before(const struct row_set *set, int64_t row);

/* Adds to `set`, which is empty, those rows of `whole` whose places in it `part` has. */
void row_set_within(struct row_set *set, const struct row_set *whole, const struct row_set *part);

/* A column of these rows, which must be on the host. NULL: no memory. */
struct column *row_set_take(const struct row_set *set, const struct column *column, struct buffer_pool *pool);

#endif
