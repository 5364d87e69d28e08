/* Sorting rows by keys. */
#ifndef RQL_ENGINE_SORTING_SORT_ROWS_H
#define RQL_ENGINE_SORTING_SORT_ROWS_H

#include "engine/sorting/sort_keys.h"

/* What a result column is written from: decoded keys, the payload beside them, or rows gathered by number. */
enum origin { FROM_KEY, FROM_PAYLOAD, FROM_ROW };

/* A column to be sorted; fields after `to` are set by sort_columns_by. */
struct carried {
    const struct column *from;
    struct column *to;
    const struct key *key; /* FROM_KEY */
    enum origin origin;
    int shift; /* FROM_PAYLOAD: its lowest bit there */
};

/* Writes the carried columns' rows in the order of their keys; stable. STATUS_OK, STATUS_CANCELLED,
 * or STATUS_FAILED, without an error: not enough memory. */
enum status sort_columns_by(const struct keys *keys, int64_t rows, const struct workers *workers,
                            struct carried *carried, size_t carried_count);

/* The same, part by part (row_parts.h), where memory has no room for `row_bytes` bytes of each row. */
enum status sort_columns_in_parts(const struct keys *keys, int64_t rows, int64_t row_bytes,
                                  const struct workers *workers, const struct carried *carried, size_t carried_count);

/* Writes the row numbers 0..rows-1 in the order of their keys; stable. Statuses as above. */
enum status order_rows(const struct keys *keys, int64_t rows, const struct workers *workers, uint64_t *order);

/* Sorts a list of `count` row numbers, each below `rows`, by their keys; stable. */
enum status order_listed(const struct keys *keys, int64_t rows, const struct workers *workers, uint64_t *list,
                         int64_t count);

/* Writes the first `first` row numbers of that order, 0 < first <= rows. Few of them take about the time of reading the
 * first key's column. */
enum status top_n(const struct keys *keys, int64_t rows, const struct workers *workers, uint64_t *order, int64_t first);

/* Keys packed into few words, `by`: the keys themselves or, if these need more, the rank of each row by them. */
struct packed_keys {
    struct key *at;
    struct keys keys;
    bool too_large; /* ranks take more than memory has room for: rows must be divided by `keys`, `by` is not set */
    bool ranked;
    struct key rank;
    struct column *ranks;
    struct keys rank_keys;
    const struct keys *by;
};

/* `columns` are the keys, of at least one row, to be packed into at most so many words. Statuses as above; Call
 * packed_keys_free in any case. */
enum status packed_keys_init(struct packed_keys *word, const struct column *const *columns, size_t count, int64_t rows,
                             const struct workers *workers, int most_words);
void packed_keys_free(struct packed_keys *word);

#endif
