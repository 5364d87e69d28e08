/* The first row of each different key. Measured against groups that tell their first rows, Xeon: of few bits
 * (first_rows.c) 1.8 to 4.3 times as fast with two threads; of many (first_partitioned.c) 1.0 to 1.5 times, at 10^6
 * rows up to 1.7, with sixteen threads and 3 * 10^7 rows or more 0.8 to 1.6. */
#ifndef RQL_ENGINE_GROUPING_FIRST_ROWS_H
#define RQL_ENGINE_GROUPING_FIRST_ROWS_H

#include "engine/sorting/sort_keys.h"

#include <stdatomic.h>

/* Whether a byte for each possible value, and thread, pays; `keys` are of one word. */
bool first_rows_pays(const struct keys *keys, int64_t rows);

/* Sets these rows' bits in `kept`, 64 rows a word, and their number. STATUS_CANCELLED, or STATUS_FAILED, without an
 * error: not enough memory. */
enum status first_rows(const struct keys *keys, int64_t rows, const struct workers *workers, _Atomic uint64_t *kept,
                       int64_t *count);

/* The same for keys with many possible values. */
enum status first_rows_partitioned(const struct keys *keys, int64_t rows, const struct workers *workers,
                                   _Atomic uint64_t *kept, int64_t *count);

#endif
