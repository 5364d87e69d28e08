/* Building a join index: what its files share. */
#ifndef RQL_ENGINE_JOIN_INDEX_JOIN_KEYS_H
#define RQL_ENGINE_JOIN_INDEX_JOIN_KEYS_H

#include "engine/join_index/join_index.h"

enum { JOIN_BLOCK = 1024, JOIN_PART_ROWS = 1 << 16, JOIN_WORD_BITS = 32 };

/* What finding a perfect hash function takes for each row: a hash, and an entry with its row and tuple. */
enum { JOIN_HASH_ROW_BYTES = 24 };

struct index_build {
    struct join_index *index;
    struct column *const *columns; /* the keys */
    struct column *order;          /* or NULL */
    const struct join_keys *asked;
    const struct workers *workers;
    struct parts parts; /* of the rows */
    int32_t *ids;       /* of each row; -1: a key is missing */
};

/* Whether a loop over rows or ids may go on to number `row`: false once the build is cancelled, which is checked at
 * some rows only. */
static inline bool join_goes_on(const struct index_build *build, int64_t row)
{
    return row % JOIN_BLOCK != 0 || !workers_cancelled(build->workers);
}

/* Whether that many more bytes are available; if not, the index records it. */
bool join_has_memory(struct join_index *index, int64_t bytes);

/* A column of integers from lo to hi, as narrow as they allow; NULL: no memory. */
struct column *join_integers(int64_t rows, int64_t lo, int64_t hi);

/* Of all threads the least, and the greatest. */
static inline void join_lower(_Atomic int64_t *least, int64_t value)
{
    int64_t known = *least;
    while (value < known && !atomic_compare_exchange_weak(least, &known, value))
        ;
}

static inline void join_raise(_Atomic int64_t *most, int64_t value)
{
    int64_t known = *most;
    while (value > known && !atomic_compare_exchange_weak(most, &known, value))
        ;
}

/* Elements of a column that gives an order, as integers that have it. */
void join_order_values(const struct column *column, int64_t row, int count, int64_t *values);

/* Where the end of an interval is among the beginnings: compares with join_begin_rank of each. */
static inline int64_t join_end_rank(const struct join_keys *asked, int64_t value)
{
    return asked->ranks ? asked->ranks[value] : value;
}

static inline int64_t join_begin_rank(const struct join_keys *asked, int64_t value)
{
    return asked->ranks ? 2 * value + 1 : value;
}

/* Sets present[i] to whether no key of row + i is missing, and nothing that gives an order is missing or NaN. */
void join_keys_present(const struct index_build *build, int64_t row, int count, bool *present);

/* join_index.c: the number of combinations of the ranges of all keys but number `left_out`, if they are at most so many
 * that an array of them is worth while; else -1. SIZE_MAX leaves none out. */
int64_t join_combinations(const struct join_index *index, size_t left_out);

/* Chooses by the ranges of the keys: sets the method and, if it is dense, the ids. Returns the number of combinations
 * that have a bit each, else -1. JOIN_SPARSE: it may be searched, too. */
int64_t join_choose_method(struct join_index *index);

/* Sets places[i] to the place of row + i among the combinations of all keys but number `left_out`; -1: a key is
 * missing. */
void join_row_places(const struct index_build *build, size_t left_out, int64_t row, int count, int64_t *places);

/* join_rank.c: makes the words, and sets the ids, where the keys have so many combinations. */
enum status join_rank_build(struct index_build *build, int64_t combinations);

/* After the ids are known. */
void join_finish_words(struct join_index *index, int64_t count);

/* Sets the ids to the places among these combinations. */
enum status join_places(struct index_build *build, size_t left_out);

/* join_device.c: makes the index on a device, if that suits both; STATUS_UNABLE: it is as before. */
enum status join_device_build(struct join_index *index, const struct join_keys *keys, const struct workers *workers,
                              const struct join_device *device);

/* Rows that agree in all keys but the one that is searched for: 8 steps. */
enum { JOIN_SEARCH_ROWS = 256 };

/* join_search.c: finds the key of the smallest range among those without which an array of the others is worth while.
 */
bool join_search_key(const struct join_index *index, size_t *chosen);

/* join_search.c: makes the index, all its tables too, if it can be a JOIN_SEARCHED. */
enum status join_search_build(struct index_build *build, bool members_only);

/* join_hash.c: finds a perfect hash function, and sets the ids. */
enum status join_hash_build(struct index_build *build);

/* join_rows.c: sets the tables by id. */
enum status join_rows_build(struct index_build *build, bool members_only);

/* join_order.c: sorts the rows of each id, which are in their own order, by build->order. */
enum status join_order_build(struct index_build *build);

/* join_second.c: the second column, in that order. */
enum status join_second_build(struct index_build *build);

#endif
