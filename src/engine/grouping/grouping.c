#include "engine/grouping/grouping.h"

#include "base/heap.h"
#include "engine/vector/elements.h"

#include <stdlib.h>

enum {
    FEW_BITS = 12,        /* codes of this many bits are always addressed directly, */
    DENSE_BITS = 20,      /* and of this many bits if there are as many rows as codes */
    DENSE_BYTES = 1 << 24 /* of a thread's states: about a core's share of the last-level cache */
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

void **group_states_new(const struct grouping *grouping, int64_t groups)
{
    void **states = heap_array(grouping->group_agg_count, sizeof *states);
    for (size_t i = 0; i < grouping->group_agg_count; i++) {
        states[i] = pages_alloc((size_t)groups * group_aggregate_size(&grouping->group_aggs[i]));
        if (!states[i]) {
            group_states_free(grouping, states, groups);
            return NULL;
        }
    }
    return states;
}

void group_states_free(const struct grouping *grouping, void **states, int64_t groups)
{
    for (size_t i = 0; i < grouping->group_agg_count && states; i++)
        pages_free(states[i], (size_t)groups * group_aggregate_size(&grouping->group_aggs[i]));
    free(states);
}

void group_states_clear(const struct grouping *grouping, void **states, int64_t begin, int64_t count)
{
    for (size_t i = 0; i < grouping->group_agg_count; i++)
        group_aggregate_clear(&grouping->group_aggs[i], states[i], begin, count);
}

/* Space for a block's values. */
struct space {
    int64_t values[OPERATOR_BLOCK], others[OPERATOR_BLOCK]; /* or as many doubles */
    int64_t where[OPERATOR_BLOCK];
};

static void read_values(const struct column *column, const struct row_block *block, void *values)
{
    if (block->rows)
        operator_values_at(column, block->rows, block->count, values);
    else
        operator_values(column, block->row, block->count, values);
}

/* As floats also of integers. */
static void read_floats(const struct column *column, const struct row_block *block, void *values)
{
    read_values(column, block, values);
    if (type_table[column->store].kind == KIND_FLOAT)
        return;
    for (int i = 0; i < block->count; i++)
        ((double *)values)[i] = (double)((const int64_t *)values)[i];
}

static void read_moments(const struct group_aggregate *group_agg, const struct row_block *block, struct space *space,
                         struct group_values *values)
{
    const bool floats = group_agg->kind == GROUP_FLOAT_MOMENTS;
    (floats ? read_floats : read_values)(group_agg->column, block, space->values);
    if (group_agg->other) {
        (floats ? read_floats : read_values)(group_agg->other, block, space->others);
        values->others = space->others;
    }
    if (group_agg->where) {
        read_values(group_agg->where, block, space->where);
        values->where = space->where;
    }
}

void group_states_add(const struct grouping *grouping, void **states, struct packed_sums *sums, const uint32_t *places,
                      const struct row_block *block)
{
    struct space space;
    const int count = block->count;
    if (sums)
        packed_sums_begin(sums, states, count);
    for (size_t i = 0; i < grouping->group_agg_count; i++) {
        const struct group_aggregate *group_agg = &grouping->group_aggs[i];
        struct group_values values = {.values = space.values};
        if (sums && sums->plan->fields[i].packed) {
            if (group_agg->column)
                packed_sums_put(sums, i, group_agg->column, block->row, count);
            continue;
        }
        if (group_agg->kind == GROUP_INT_MOMENTS || group_agg->kind == GROUP_FLOAT_MOMENTS)
            read_moments(group_agg, block, &space, &values);
        else if (group_agg->column)
            read_values(group_agg->column, block, space.values);
        for (int k = 0; group_agg->kind == GROUP_FIRST && k < count; k++)
            space.values[k] = block->rows ? (int64_t)block->rows[k] : block->row + k;
        group_aggregate_add(group_agg, states[i], places, &values, count);
    }
    if (sums)
        packed_sums_add(sums, places, count);
}

void group_states_merge(const struct grouping *grouping, void **into, int64_t place, void *const *from, int64_t other)
{
    for (size_t i = 0; i < grouping->group_agg_count; i++)
        group_aggregate_merge(&grouping->group_aggs[i], into[i], place, from[i], other);
}
