/* Lists as columns: the values of a LOGICAL_LIST column are numbers of lists, as those of text are codes. A list is a
 * run of elements, the rows of a relation, so that filters, sorts and joins move numbers only. Stores are immutable and
 * reference counted; several lists may share elements, as slices do.
 *
 * A list of scalars has one column of elements, whose name is empty; a list of structs has one for each of their
 * leaves, with its name within the struct, `price.amount`. Both may be lists again. A missing list is a missing value
 * of its column; a missing element is one of the elements' columns. Texts of elements have sorted dictionaries. A map
 * is a list of structs with `key` and `value`. */
#ifndef RQL_ENGINE_STORAGE_LIST_STORE_H
#define RQL_ENGINE_STORAGE_LIST_STORE_H

#include "base/strbuf.h"
#include "engine/storage/column.h"

struct reader_column; /* file_reader.h */

struct list_store {
    struct list_type type;           /* first, where logical_type_name finds it */
    int64_t count;                   /* at least 1: a missing value, whose number is 0, has a list to read */
    struct column *starts, *lengths; /* i64, with perhaps a narrower store and ranges that are known: of each list its
                                        first element and how many it has. On the host */
    struct relation *elements;       /* with at least one column */
    bool is_map;
    bool unread; /* stands for the lists of a column of a file that has not been read: has only the types */
    _Atomic int refs;
};

struct list_store *list_store_ref(struct list_store *store); /* NULL is allowed */
void list_store_unref(struct list_store *store);             /* NULL is allowed */

/* The lists of these starts and lengths, integers of any store without missing values, as many of each. Takes over one
 * reference to each argument, also if it fails: NULL if a list is not within the elements, or without memory. */
struct list_store *list_store_new(struct column *starts, struct column *lengths, struct relation *elements,
                                  bool is_map);

/* List k has the elements offsets[k] .. offsets[k + 1] - 1, as in Arrow; `count` lists. Likewise. */
struct list_store *list_store_of_offsets(const int64_t *offsets, int64_t count, struct relation *elements, bool is_map);

/* For a column that has not been read: the elements' columns, without rows, have the types. Never NULL. */
struct list_store *list_store_unread(struct relation *elements, bool is_map);

/* Likewise, of elements like those of the store. */
struct list_store *list_store_unread_like(const struct list_store *store);

/* Likewise, of elements whose columns are as described; takes over the references to stores that they have. */
struct list_store *list_store_of_described(const struct reader_column *described, size_t count, bool is_map);

/* A column of which row k is list k of the store. Takes over a reference to the store and to the validity, which may be
 * NULL and has as many rows. NULL: no memory, or the store was NULL. */
struct column *column_of_lists(struct list_store *store, int64_t rows, struct column *validity);

/* A column in which each row has the list of the values of its group, of which `ids` is the number, from 0 on; NULL:
 * all rows are one group. Elements are in the order of rows, and missing where `present`, a column of bools or NULL, is
 * false. All are on the host. NULL: no memory. */
struct column *column_of_groups(struct buffer_pool *pool, const struct column *values, const struct column *present,
                                const struct column *ids);

/* A column of the lengths of the lists, missing where they are; they must be on the host. NULL: no memory. */
struct column *list_lengths(const struct column *lists);

/* Whether the elements are scalars, or lists of them; else they are structs. */
bool list_store_is_plain(const struct list_store *store);

/* Appends the list in a row as JSON: ["a","b"], [{"price":1.5}], {"key":1} for a map; null if it is missing. The rows
 * must be on the host. */
void list_add_json(struct strbuf *out, const struct column *column, int64_t row);

/* The lists as text, in JSON. They must be on the host. NULL: no memory. */
struct column *column_of_list_texts(const struct column *lists);

#endif
