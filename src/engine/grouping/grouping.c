#include "engine/grouping/grouping.h"

#include "base/heap.h"
#include "base/zeroed.h"
#include "engine/sorting/row_parts.h"
#include "engine/vector/ahead.h"
#include "engine/vector/elements.h"

#include <stdlib.h>

enum {
    FEW_BITS = 12,        /* codes of this many bits are always addressed directly, */
    DENSE_BITS = 20,      /* and of this many bits if there are as many rows as codes */
    DENSE_BYTES = 1 << 22 /* of a thread's states: beyond some caches, partitioning rows first is faster */
};

static bool is_dense(const struct grouping *grouping)
{
    const int bits = grouping->keys->word_bits[0];
    size_t size = 0;
    for (size_t i = 0; i < grouping->group_agg_count; i++)
        size += group_aggregate_size(&grouping->group_aggs[i]);
    return bits <= FEW_BITS ||
           (bits <= DENSE_BITS && (INT64_C(1) << bits) <= grouping->rows && size << bits <= DENSE_BYTES);
}

int64_t grouping_row_bytes(const struct grouping *grouping)
{
    struct group_carry carry;
    group_carry_init(&carry, grouping->keys, grouping->rows, grouping->group_aggs, grouping->group_agg_count,
                     grouping->keys->words > 1 ? ELEMENT_WORDS - grouping->keys->words : 1);
    int64_t bytes = (int64_t)group_carry_width(&carry) + grouping->result_bytes;
    for (size_t i = 0; i < grouping->group_agg_count; i++) {
        const struct column *column = grouping->group_aggs[i].column;
        bytes += column && !group_carry_has(&carry, column) ? (int64_t)type_table[column->store].size : 0;
    }
    group_carry_free(&carry);
    return bytes;
}

enum status group_rows(const struct grouping *grouping, int64_t *groups)
{
    const bool wide = grouping->keys->words > 1;
    if (!wide && is_dense(grouping))
        return group_dense(grouping, groups);
    bool few = false;
    const enum status status = group_hash(grouping, &few, groups);
    if (status != STATUS_OK || few)
        return status;
    if (grouping->too_large &&
        row_parts_pay(grouping->keys, grouping->rows, grouping_row_bytes(grouping), grouping->workers->pool)) {
        *grouping->too_large = true;
        return STATUS_OK;
    }
    return wide ? group_partitioned(grouping, groups) : group_sorted(grouping, groups);
}

/* The bytes of an aggregate's states, in whole cache lines. */
static size_t states_bytes(const struct grouping *grouping, size_t i, int64_t groups)
{
    const size_t size = (size_t)groups * group_aggregate_size(&grouping->group_aggs[i]);
    return (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

static size_t all_states_bytes(const struct grouping *grouping, int64_t groups)
{
    size_t size = 0;
    for (size_t i = 0; i < grouping->group_agg_count; i++)
        size += states_bytes(grouping, i, groups);
    return size;
}

void **group_states_new(const struct grouping *grouping, int64_t groups)
{
    void **states = heap_array(grouping->group_agg_count, sizeof *states);
    char *all = grouping->group_agg_count > 0 ? zeroed_alloc(all_states_bytes(grouping, groups)) : NULL;
    if (!all && grouping->group_agg_count > 0) {
        free(states);
        return NULL;
    }
    for (size_t i = 0; i < grouping->group_agg_count; i++) {
        states[i] = all;
        all += states_bytes(grouping, i, groups);
    }
    return states;
}

void group_states_free(const struct grouping *grouping, void **states, int64_t groups)
{
    if (states && grouping->group_agg_count > 0)
        zeroed_free(states[0], all_states_bytes(grouping, groups));
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

/* The values, in `space` if they are not in memory as such. */
static const void *read_values(const struct column *column, const struct row_block *block, void *space)
{
    uint64_t rows[OPERATOR_BLOCK];
    if (!block->carry)
        return axis_values(column, type_table[column->store].kind == KIND_FLOAT ? LANE_F64 : LANE_I64, block->row,
                           block->count, space);
    if (!group_carry_values(block->carry, column, block->payloads, block->count, space)) {
        group_carry_values(block->carry, NULL, block->payloads, block->count, rows);
        operator_values_at(column, rows, block->count, space);
    }
    return space;
}

static void read_rows(const struct row_block *block, int64_t *rows)
{
    for (int i = 0; i < block->count && !block->carry; i++)
        rows[i] = block->row + i;
    if (block->carry)
        group_carry_values(block->carry, NULL, block->payloads, block->count, rows);
}

/* As floats also of integers. */
static const void *read_floats(const struct column *column, const struct row_block *block, void *space)
{
    const void *values = read_values(column, block, space);
    if (type_table[column->store].kind == KIND_FLOAT)
        return values;
    for (int i = 0; i < block->count; i++)
        ((double *)space)[i] = (double)((const int64_t *)values)[i];
    return space;
}

static void read_moments(const struct group_aggregate *group_agg, const struct row_block *block, struct space *space,
                         struct group_values *values)
{
    const bool floats = group_agg->form == STATE_FLOAT_MOMENTS;
    values->values = (floats ? read_floats : read_values)(group_agg->column, block, space->values);
    if (group_agg->other)
        values->others = (floats ? read_floats : read_values)(group_agg->other, block, space->others);
    if (group_agg->where)
        values->where = read_values(group_agg->where, block, space->where);
}

void group_states_add(const struct grouping *grouping, void **states, struct float_grid *const *grids,
                      const uint32_t *places, const struct row_block *block)
{
    struct space space;
    const int count = block->count;
    for (size_t i = 0; i < grouping->group_agg_count; i++) {
        const struct group_aggregate *group_agg = &grouping->group_aggs[i];
        struct group_values values = {.values = space.values};
        if (group_agg->kind == AGG_VAR)
            read_moments(group_agg, block, &space, &values);
        else if (group_agg->column)
            values.values = read_values(group_agg->column, block, space.values);
        else if (group_agg->kind == AGG_FIRST)
            read_rows(block, space.values);
        if (grids && grids[i])
            float_grid_add(grids[i], states[i], places, values.values, count);
        else
            group_aggregate_add(group_agg, states[i], places, &values, count);
    }
}

void group_states_merge(const struct grouping *grouping, void **into, int64_t place, void *const *from, int64_t other)
{
    for (size_t i = 0; i < grouping->group_agg_count; i++)
        group_aggregate_merge(&grouping->group_aggs[i], into[i], place, from[i], other);
}
