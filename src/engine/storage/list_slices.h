/* Slices of lists, which share elements: of all lists of a store, or of the list of each row. Ends are positions as of
 * elements, negative ones from the end of a list, which has as much of a slice as it has elements. */
#ifndef RQL_ENGINE_STORAGE_LIST_SLICES_H
#define RQL_ENGINE_STORAGE_LIST_SLICES_H

#include "engine/storage/list_store.h"

/* Of each list the elements `first` to `last`. NULL: no memory. */
struct list_store *list_store_slice(const struct list_store *store, int64_t first, int64_t last);

/* A value of each row, or the constant. */
struct row_value {
    const struct column *column;  /* of integers, or lists; NULL: the constant */
    const struct column *present; /* NULL: everywhere */
    int64_t constant;
    bool missing; /* the constant is */
};

/* In each row the slice of its list; missing where one of the three is. All are on the host. NULL: no memory. */
struct column *column_of_slices(const struct row_value *lists, const struct row_value *first,
                                const struct row_value *last);

#endif
