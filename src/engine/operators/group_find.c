#include "engine/operators/group_find.h"

enum {
    FEW_BITS = 12,        /* codes of so many bits have an array whatever the number of rows */
    DENSE_BITS = 20,      /* and of so many if there are as many rows */
    DENSE_BYTES = 1 << 24 /* of a thread's cells: about what a core's share of the last cache holds */
};

static bool is_dense(const struct grouping *grouping)
{
    int bits = grouping->keys->word_bits[0];
    size_t size = 0;
    for (size_t i = 0; i < grouping->group_agg_count; i++)
        size += group_aggregate_size(&grouping->group_aggs[i]);
    return bits <= FEW_BITS ||
           (bits <= DENSE_BITS && (INT64_C(1) << bits) <= grouping->rows && size << bits <= DENSE_BYTES);
}

enum status group_rows(const struct grouping *grouping, int64_t *groups)
{
    if (is_dense(grouping))
        return group_dense(grouping, groups);
    bool few = false;
    enum status status = group_hash(grouping, &few, groups);
    return status == STATUS_OK && !few ? group_sorted(grouping, groups) : status;
}
