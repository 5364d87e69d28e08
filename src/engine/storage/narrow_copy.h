/* The same elements in fewer bytes. */
#ifndef RQL_ENGINE_STORAGE_NARROW_COPY_H
#define RQL_ENGINE_STORAGE_NARROW_COPY_H

#include "engine/storage/column.h"

#include <stdatomic.h>

/* The narrowest type that holds lo..hi; that of the column if none is narrower, or its elements are no integers. */
enum type narrow_type(const struct column *column, int64_t lo, int64_t hi);

/* A copy of a column of integers, all within lo..hi, stored as a narrower type that holds these. NULL: stopped, or no
 * memory. */
struct column *narrow_copy(const struct column *column, enum type store, int64_t lo, int64_t hi,
                           struct buffer_pool *pool, const atomic_bool *stop);

#endif
