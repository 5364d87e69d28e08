/* The tables of a join index (engine/join_index/join_index.h) that a backend can make: of keys that are integers, all
 * of them present, with few enough combinations for a bit each. */
#ifndef RQL_ENGINE_BACKEND_INDEX_TABLES_H
#define RQL_ENGINE_BACKEND_INDEX_TABLES_H

#include "engine/storage/column.h"

struct index_tables {
    int64_t *lo, *hi; /* of each key */
    /* Reserved by the caller, NULL: not needed. Without words the ids of rows are the places of their keys. */
    struct column *words, *members, *row_of;
    /* Or, of rows that are in the order of their distinct tuples, for each place of all keys but number `searched`
     * where its rows begin, and their number twice more. */
    struct column *begins;
    size_t searched;
    int64_t most; /* then: set to the most rows of a place */
    int64_t ids;  /* with words: set to the number of tuples */
    bool doubles; /* several rows have one tuple, or with `begins` are in no order, and all is worthless; not found out
                     for members alone */
    bool in_order;
};

#endif
