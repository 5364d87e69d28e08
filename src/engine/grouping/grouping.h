/* Grouping: finds rows with equal keys and aggregates them.
 *
 * Strategies, the first that applies: few possible codes address an array directly; few distinct keys are looked up in
 * hash tables that fit the cache; otherwise rows are partitioned by their codes and sorted where these have many
 * possible values, whose cost does not depend on the number of groups, unless they are in their order already. Keys of
 * several words are partitioned by a hash instead (group_partition.c); their groups are in no order. */
#ifndef RQL_ENGINE_GROUPING_GROUPING_H
#define RQL_ENGINE_GROUPING_GROUPING_H

#include "engine/grouping/float_grid.h"
#include "engine/grouping/group_aggregate.h"
#include "engine/grouping/group_carry.h"
#include "engine/sorting/sort_keys.h"

/* Groups found, in the order of their codes unless these have several words: rows at .. at+count-1 of the result. */
struct found {
    int64_t at;
    int count;              /* at most KEY_BLOCK */
    const uint64_t *codes;  /* of keys of several words: word w from w * KEY_BLOCK on */
    void *const *states;    /* of each aggregate */
    const uint32_t *places; /* of each group in the states */
};

struct grouping {
    const struct workers *workers;
    int64_t rows;
    const struct keys *keys; /* of one word, but for group_hash and group_partitioned of up to CARRIED_WORDS */
    const struct group_aggregate *group_aggs;
    size_t group_agg_count;

    /* NULL, or: set, with STATUS_OK, where groups are many, and rows must be divided since memory has no room. */
    bool *too_large;
    int64_t result_bytes; /* of a group, to know that */

    /* Called once, before `emit`, with the most groups there can be; false: no memory. */
    bool (*prepare)(void *context, int64_t most);
    /* Stores groups; called by several threads. Positions may have gaps. */
    void (*emit)(void *context, const struct found *found);
    /* Closes a gap: moves `count` groups from `from` to `to`, which is less. May be NULL. */
    void (*move)(void *context, int64_t from, int64_t to, int64_t count);
    void *context;
};

/* Groups the rows, at least one, and sets their number. STATUS_FAILED, without an error: not enough memory. */
enum status group_rows(const struct grouping *grouping, int64_t *groups);

/* What that takes for a row where groups are many: an element, and a result. */
int64_t grouping_row_bytes(const struct grouping *grouping);

/* The strategies; `few` is false if there are too many groups to hash. */
enum status group_dense(const struct grouping *grouping, int64_t *groups);
enum status group_hash(const struct grouping *grouping, bool *few, int64_t *groups);
enum status group_sorted(const struct grouping *grouping, int64_t *groups);
/* The strategy for keys of several words. */
enum status group_partitioned(const struct grouping *grouping, int64_t *groups);

/* States of each aggregate for this many groups, not cleared; NULL: no memory. */
void **group_states_new(const struct grouping *grouping, int64_t groups);
void group_states_free(const struct grouping *grouping, void **states, int64_t groups);
void group_states_clear(const struct grouping *grouping, void **states, int64_t begin, int64_t count);

/* Rows from `row` on or, unless `carry` is NULL, those with these payloads. */
struct row_block {
    int64_t row;
    const struct group_carry *carry;
    const uint64_t *payloads;
    int count; /* at most KEY_BLOCK */
};

/* Adds rows to the states at their places. Sums of floats have the grids of their aggregates (NULL: none have). */
void group_states_add(const struct grouping *grouping, void **states, struct float_grid *const *grids,
                      const uint32_t *places, const struct row_block *block);
void group_states_merge(const struct grouping *grouping, void **into, int64_t place, void *const *from, int64_t other);

/* group_dense.c: groups by direct addressing, to which rows are added a few at a time. */

struct dense_groups;

/* For the grouping's keys, of few bits, and aggregates; each of its threads has states of its own. The grouping
 * outlives it; its rows are not read. */
struct dense_groups *dense_groups_new(const struct grouping *grouping);
void dense_groups_free(struct dense_groups *dense); /* NULL: nothing */

/* Adds rows begin .. end-1 of `from`, which is the grouping or has the same keys and aggregates of other columns, to
 * the states of thread `member`, which calls it. */
void dense_groups_add(struct dense_groups *dense, int member, const struct grouping *from, int64_t begin, int64_t end);

/* Emits the groups and sets their number. STATUS_FAILED, without an error: not enough memory. */
enum status dense_groups_finish(struct dense_groups *dense, int64_t *groups);

#endif
