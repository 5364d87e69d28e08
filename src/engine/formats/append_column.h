/* Appends columns of several files into one. */
#ifndef RQL_ENGINE_FORMATS_APPEND_COLUMN_H
#define RQL_ENGINE_FORMATS_APPEND_COLUMN_H

#include "base/parallel.h"
#include "engine/storage/column.h"
#include "engine/storage/list_store.h"

struct column_type {
    enum type type;              /* of text: any */
    struct logical_type logical; /* without a dictionary */
};

/* Widens *type so that it holds the values of `other` too: integers to an integer type of both, integers and floats to
 * f64, decimals to the larger scale. Returns false, and leaves it as it is, if there is no such type. */
bool type_widen(struct column_type *type, struct column_type other);

/* Whether no row has a value, so that the type does not count. */
bool column_is_vacant(const struct column *column);

/* Whether reading a column of this type can show that it is vacant, or that its lists are empty: those without a value
 * are of text or of any list. */
bool column_may_be_vacant(struct logical_type type);

struct column_pieces {
    struct column *const *pieces; /* NULL: all rows are missing, as where a piece is vacant */
    const int64_t *rows;
    size_t count;
    int64_t total; /* of rows */
};

/* A new column of the type, which holds the values of all pieces. NULL if there is no memory, it was cancelled, or
 * (then *too_large) a value does not fit the scale. */
struct column *append_columns(const struct column_pieces *pieces, struct column_type type,
                              const struct workers *workers, bool *too_large);

/* append_lists.c: joins stores of lists, of several files or of both sides of a choice. */

/* Whether no list of what was read has an element, so that they are of any type. */
bool lists_are_empty(const struct list_store *store);

/* Whether lists of both can be in one store: both have scalars of types that one type holds, or structs whose fields of
 * the same name have such types. A field that only some have is missing in the others. */
bool lists_fit(const struct list_store *a, const struct list_store *b);

/* A new store with the lists of all, in order; list n of store k has the number firsts[k] + n. NULL: no memory,
 * cancelled, or (then *too_large) a value does not fit the scale. They fit. */
struct list_store *append_lists(struct list_store *const *stores, size_t count, int64_t *firsts,
                                const struct workers *workers, bool *too_large);

#endif
