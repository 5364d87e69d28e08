/* Sorts columns by keys. */
#ifndef RQL_ENGINE_OPERATORS_SORT_ROWS_H
#define RQL_ENGINE_OPERATORS_SORT_ROWS_H

#include "engine/operators/sort_keys.h"

/* Where a result comes from. */
enum origin { FROM_KEY, FROM_PAYLOAD, FROM_ROW };

/* A column to be sorted; what follows `to` is for sort_columns_by. */
struct carried {
    const struct column *from;
    struct column *to;
    const struct key *key; /* FROM_KEY */
    enum origin origin;
    int shift; /* FROM_PAYLOAD: in the load */
};

/* Writes the carried columns' rows in the order of their keys. STATUS_FAILED: there is no memory; nothing has been
 * said. */
enum status sort_columns_by(const struct keys *keys, int64_t rows, const struct workers *workers,
                            struct carried *carried, size_t carried_count);

/* Writes the row numbers 0..rows-1 in the order of their keys, of any number of words; equal ones keep theirs.
 * STATUS_FAILED: there is no memory; nothing has been said. */
enum status order_rows(const struct keys *keys, int64_t rows, const struct workers *workers, uint64_t *order);

/* The same for the `count` rows listed, each below `rows`: puts the list in the order of their keys. */
enum status order_listed(const struct keys *keys, int64_t rows, const struct workers *workers, uint64_t *list,
                         int64_t count);

/* Writes the first `first` of what order_rows would give, in about the time of reading the first key's column once
 * where they are few. 0 < first <= rows. */
enum status top_n(const struct keys *keys, int64_t rows, const struct workers *workers, uint64_t *order, int64_t first);

/* Keys that may need several words, and the ones to group by: themselves, or the ranks of rows by them. */
struct packed_keys {
    struct key *at;
    struct keys keys;
    bool ranked;
    struct key rank;
    struct column *ranks;
    struct keys rank_keys;
    const struct keys *by;
};

/* `columns` are the keys, of at least one row; STATUS_CANCELLED, or as above. packed_keys_free is due in any case. */
enum status packed_keys_init(struct packed_keys *word, const struct column **columns, size_t count, int64_t rows,
                             const struct workers *workers);
void packed_keys_free(struct packed_keys *word);

#endif
