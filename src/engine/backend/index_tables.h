/* The tables of a join index (engine/join_index/join_index.h) that a backend can make: of keys that are integers, all
 * of them present, with few enough combinations for a bit each. */
#ifndef RQL_ENGINE_BACKEND_INDEX_TABLES_H
#define RQL_ENGINE_BACKEND_INDEX_TABLES_H

#include "engine/storage/column.h"

struct index_tables {
    int64_t *lo, *hi; /* of each key */
    /* Reserved by the caller, NULL: not needed. Without words the ids of rows are the places of their keys. */
    struct column *words, *members, *row_of;
    int64_t ids;  /* with words: set to the number of tuples */
    bool doubles; /* several rows have one tuple, and row_of is worthless; not found out without row_of */
    bool in_order;
};

#endif
