/* Sorts columns by keys. */
#ifndef RQL_ENGINE_OPERATORS_SORT_ROWS_H
#define RQL_ENGINE_OPERATORS_SORT_ROWS_H

#include "engine/operators/sort_keys.h"

/* Where a result comes from. */
enum origin { FROM_KEY, FROM_LOAD, FROM_ROW };

/* A column to be sorted; what follows `to` is for sort_all. */
struct carried {
    const struct column *from;
    struct column *to;
    const struct key *key; /* FROM_KEY */
    enum origin origin;
    int shift; /* FROM_LOAD: in the load */
};

/* Writes the carried columns' rows in the order of their keys. STATUS_FAILED: there is no memory; nothing has been
 * said. */
enum status sort_all(const struct keys *keys, int64_t rows, const struct workers *workers, struct carried *carried,
                     size_t carried_count);

#endif
