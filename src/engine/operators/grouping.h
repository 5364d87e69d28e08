/* Grouping: which rows have equal keys, and what is tallied of each group.
 *
 * Three ways, the first that is possible: keys with few possible codes are a place in an array; keys that turn out to
 * have few different codes are looked up in a hash table that fits the cache; all others are sorted, which costs the
 * same for one group as for one a row. Private to break_*.c and group_*.c. */
#ifndef RQL_ENGINE_OPERATORS_GROUPING_H
#define RQL_ENGINE_OPERATORS_GROUPING_H

#include "engine/operators/group_aggregate.h"
#include "engine/operators/sort_keys.h"

/* Groups found, in the order of their codes: those at positions at .. at+count-1 of the result. */
struct found {
    int64_t at;
    int count; /* at most KEY_BLOCK */
    const uint64_t *codes;
    void *const *states;    /* of each tally; */
    const uint32_t *places; /* where in the cells each group is */
};

struct grouping {
    const struct workers *workers;
    int64_t rows;
    const struct keys *keys; /* of one word */
    const struct group_aggregate *group_aggs;
    size_t group_agg_count;

    /* Says how many groups there are at most, before any is given; false: there is no room. */
    bool (*prepare)(void *context, int64_t most);
    /* Takes groups, from several threads; positions may be left out. */
    void (*emit)(void *context, const struct found *found);
    /* Closes a gap: what was given at `from` and after goes to `to`, which is less. May be NULL. */
    void (*move)(void *context, int64_t from, int64_t to, int64_t count);
    void *context;
};

/* Groups the rows, at least one. STATUS_FAILED: there is no memory; nothing has been said. */
enum status group_rows(const struct grouping *grouping, int64_t *groups);

/* The three ways; `few` stays false if there are too many groups for the second. */
enum status group_dense(const struct grouping *grouping, int64_t *groups);
enum status group_hash(const struct grouping *grouping, bool *few, int64_t *groups);
enum status group_sorted(const struct grouping *grouping, int64_t *groups);

/* Cells for so many groups, of each tally; NULL: there is no memory. Not yet cleared. */
void **group_states_new(const struct grouping *grouping, int64_t groups);
void group_states_free(const struct grouping *grouping, void **states, int64_t groups);
void group_states_clear(const struct grouping *grouping, void **states, int64_t begin, int64_t count);

/* Adds rows, from `row` on or those listed, to the cells of their places. */
void group_states_add(const struct grouping *grouping, void **states, const uint32_t *places, int64_t row, int count);
void group_states_add_at(const struct grouping *grouping, void **states, const uint32_t *places, const uint64_t *rows,
                         int count);
void group_states_merge(const struct grouping *grouping, void **into, int64_t place, void *const *from, int64_t other);

#endif
