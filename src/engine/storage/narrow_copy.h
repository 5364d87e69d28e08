/* Copies of integer columns in a narrower type. */
#ifndef RQL_ENGINE_STORAGE_NARROW_COPY_H
#define RQL_ENGINE_STORAGE_NARROW_COPY_H

#include "engine/storage/column.h"

#include <stdatomic.h>

/* The narrowest type that holds lo..hi; `store` if none is narrower or its elements are not integers. */
enum type narrow_type(enum type store, int64_t lo, int64_t hi);

/* A copy of an integer column stored as `store`, which holds lo..hi and thereby all elements. NULL: stopped (*stop is
 * set) or no memory. */
struct column *narrow_copy(const struct column *column, enum type store, int64_t lo, int64_t hi,
                           struct buffer_pool *pool, const atomic_bool *stop);

#endif
