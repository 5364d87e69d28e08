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
struct block {
    int64_t values[OPERATOR_BLOCK], others[OPERATOR_BLOCK]; /* or as many doubles */
    int64_t where[OPERATOR_BLOCK];
};

/* Elements of rows from `row` on, or of those listed in `rows`. */
static void read_values(const struct column *column, int64_t row, const uint64_t *rows, int count, void *values)
{
    if (rows)
        operator_values_at(column, rows, count, values);
    else
        operator_values(column, row, count, values);
}

/* As floats also of integers. */
static void read_floats(const struct column *column, int64_t row, const uint64_t *rows, int count, void *values)
{
    read_values(column, row, rows, count, values);
    if (type_table[column->store].kind == KIND_FLOAT)
        return;
    for (int i = 0; i < count; i++)
        ((double *)values)[i] = (double)((const int64_t *)values)[i];
}

static void read_moments(const struct group_aggregate *group_agg, int64_t row, const uint64_t *rows, int count,
                         struct block *block, struct group_values *values)
{
    const bool floats = group_agg->kind == GROUP_FLOAT_MOMENTS;
    (floats ? read_floats : read_values)(group_agg->column, row, rows, count, block->values);
    if (group_agg->other) {
        (floats ? read_floats : read_values)(group_agg->other, row, rows, count, block->others);
        values->others = block->others;
    }
    if (group_agg->where) {
        read_values(group_agg->where, row, rows, count, block->where);
        values->where = block->where;
    }
}

static void add_rows(const struct grouping *grouping, void **states, const uint32_t *places, int64_t row,
                     const uint64_t *rows, int count)
{
    struct block block;
    for (size_t i = 0; i < grouping->group_agg_count; i++) {
        const struct group_aggregate *group_agg = &grouping->group_aggs[i];
        struct group_values values = {.values = block.values};
        if (group_agg->kind == GROUP_INT_MOMENTS || group_agg->kind == GROUP_FLOAT_MOMENTS)
            read_moments(group_agg, row, rows, count, &block, &values);
        else if (group_agg->column)
            read_values(group_agg->column, row, rows, count, block.values);
        for (int k = 0; group_agg->kind == GROUP_FIRST && k < count; k++)
            block.values[k] = rows ? (int64_t)rows[k] : row + k;
        group_aggregate_add(group_agg, states[i], places, &values, count);
    }
}

void group_states_add(const struct grouping *grouping, void **states, const uint32_t *places, int64_t row, int count)
{
    add_rows(grouping, states, places, row, NULL, count);
}

void group_states_add_at(const struct grouping *grouping, void **states, const uint32_t *places, const uint64_t *rows,
                         int count)
{
    add_rows(grouping, states, places, 0, rows, count);
}

void group_states_merge(const struct grouping *grouping, void **into, int64_t place, void *const *from, int64_t other)
{
    for (size_t i = 0; i < grouping->group_agg_count; i++)
        group_aggregate_merge(&grouping->group_aggs[i], into[i], place, from[i], other);
}
