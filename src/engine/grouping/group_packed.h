/* The number of a group's rows and sums of narrow integers side by side in words of 64 bits: one addition a row does
 * for several aggregates. Before a field could overflow, the words are added to the states of the aggregates. */
#ifndef RQL_ENGINE_GROUPING_GROUP_PACKED_H
#define RQL_ENGINE_GROUPING_GROUP_PACKED_H

#include "engine/grouping/group_aggregate.h"
#include "engine/vector/elements.h"

enum { PACKED_WORDS = 2 };

/* An aggregate's place in the words. */
struct packed_field {
    bool packed;
    bool begins; /* no other sum is before it in its word */
    int word, shift;
    uint64_t mask; /* of a sum, after shifting */
    int64_t low;   /* subtracted from each value */
};

/* How aggregates are packed. */
struct packed_plan {
    int words;                   /* 0: not at all */
    bool shared_count;           /* sums are in the word of the count */
    int64_t most_rows;           /* that are added before the words must be emptied */
    struct packed_field *fields; /* of each aggregate */
    const struct group_aggregate *group_aggs;
    size_t count; /* of these */
};

/* For words of this many groups; the first aggregate is the count. The aggregates outlive the plan. */
void packed_plan_init(struct packed_plan *plan, const struct group_aggregate *group_aggs, size_t count, int64_t groups);
void packed_plan_free(struct packed_plan *plan);

/* A thread's words, and those of a block of rows, of which each is added to the words of its row's group. */
struct packed_sums {
    const struct packed_plan *plan;
    int64_t groups, capacity; /* groups may be set, up to this, while the words are empty */
    int64_t rows;             /* added since the words were emptied */
    uint64_t *words[PACKED_WORDS];
    uint64_t block[PACKED_WORDS][OPERATOR_BLOCK];
};

/* NULL: no memory. */
struct packed_sums *packed_sums_new(const struct packed_plan *plan, int64_t groups);
void packed_sums_free(struct packed_sums *sums); /* NULL: nothing */

/* Begins a block of `count` rows; if a field might overflow, the words are emptied into the states before. */
void packed_sums_begin(struct packed_sums *sums, void **states, int count);
/* Gives the block the values of an aggregate, of LANE_I32 or LANE_I64; in the order of the aggregates. */
void packed_sums_put(struct packed_sums *sums, size_t aggregate, const void *values, enum lane lane, int count);
/* Adds the block. */
void packed_sums_add(struct packed_sums *sums, const uint32_t *places, int count);

/* Adds the words to the states of their groups, and clears them. */
void packed_sums_empty(struct packed_sums *sums, void **states);

#endif
