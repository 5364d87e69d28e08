/* Columns of text whose dictionary has no order: some of their rows, and all of them put in order, in memory. */
#ifndef RQL_ENGINE_STORAGE_UNSORTED_COLUMN_H
#define RQL_ENGINE_STORAGE_UNSORTED_COLUMN_H

#include "base/parallel.h"
#include "engine/storage/row_set.h"

/* A column of these rows, with an unsorted dictionary of their strings alone. NULL: no memory. */
struct column *unsorted_take(const struct row_set *set, const struct column *column);

/* One column of the rows of all of these, which have unsorted dictionaries. NULL: no memory. */
struct column *unsorted_concatenate(struct column *const *columns, size_t count);

/* A column whose row k has string k of an unsorted dictionary, or code 0 where `present`, if it is not NULL, is 0.
 * NULL: no memory. */
struct column *column_of_places(struct buffer_pool *pool, struct dictionary *dictionary, const uint8_t *present);

/* The column with a sorted dictionary. NULL: no memory, or cancelled. */
struct column *unsorted_in_order(const struct column *column, const struct workers *workers);

#endif
