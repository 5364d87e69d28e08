/* Along columns: what follows one another goes to neighbouring cells. */
#include "engine/operators/axis_reduction.h"
#include "engine/operators/elements.h"

#include "base/cpu_dispatch.h"
#include "base/heap.h"
#include "engine/vector/ops.h"

#include <stdlib.h>

enum {
    PART_ROWS = 1 << 15,
    STRIP = 1 << 10, /* columns fewer than these are added as so many, copies of themselves side by side, */
    WIDE = 1 << 14,  /* and those of at least so many apart from each other, a block of them by one thread */
};

/* Adds values, each to the cell in its place. */
typedef void group_states_fn(void *states, const void *values, int count);

/* Loops differ in the types, and in what becomes of a cell. */
#define CELLS(name, cell, type, result)                                                                                \
    CPU_CLONES static void name(void *states, const void *values, int count)                                           \
    {                                                                                                                  \
        cell *restrict c = states;                                                                                     \
        const type *restrict v = values;                                                                               \
        for (int i = 0; i < count; i++)                                                                                \
            c[i] = result;                                                                                             \
    }
CELLS(sum_i32, int64_t, int32_t, c[i] + v[i])
CELLS(sum_i64, int64_t, int64_t, c[i] + v[i])
CELLS(min_i32, int64_t, int32_t, v[i] < c[i] ? v[i] : c[i])
CELLS(min_i64, int64_t, int64_t, v[i] < c[i] ? v[i] : c[i])
CELLS(max_i32, int64_t, int32_t, v[i] > c[i] ? v[i] : c[i])
CELLS(max_i64, int64_t, int64_t, v[i] > c[i] ? v[i] : c[i])
CELLS(min_f64, double, double, v[i] < c[i] || c[i] != c[i] ? v[i] : c[i])
CELLS(max_f64, double, double, v[i] > c[i] || c[i] != c[i] ? v[i] : c[i])
#undef CELLS

static group_states_fn *adder(enum group_aggregate_kind kind, enum lane lane)
{
    switch (kind) {
    case GROUP_SUM:
        return lane == LANE_I32 ? sum_i32 : sum_i64;
    case GROUP_MIN:
        return lane == LANE_I32 ? min_i32 : min_i64;
    case GROUP_MAX:
        return lane == LANE_I32 ? max_i32 : max_i64;
    case GROUP_FLOAT_MIN:
        return min_f64;
    case GROUP_FLOAT_MAX:
        return max_f64;
    default:
        return NULL;
    }
}

bool axis_cols_takes(const struct group_aggregate *group_agg)
{
    return group_agg->kind == GROUP_COUNT || adder(group_agg->kind, LANE_I64) != NULL;
}

struct cols {
    struct axis_reduction *along;
    enum lane lane;
    group_states_fn *add;
    int64_t width;      /* of a strip */
    int64_t rows;       /* of the relation */
    int64_t **states;   /* of each member, where all add to all columns; NULL until it has done something */
    struct parts parts; /* of the strips, or of the columns */
};

static void write_cells(const struct cols *cols, const int64_t *states, int64_t col, int64_t count)
{
    struct axis_reduction *along = cols->along;
    uint32_t places[OPERATOR_BLOCK];
    int64_t counts[OPERATOR_BLOCK];
    for (int i = 0; i < OPERATOR_BLOCK; i++) {
        places[i] = (uint32_t)i;
        counts[i] = along->length;
    }
    for (int64_t done = 0; done < count; done += OPERATOR_BLOCK) {
        int some = count - done < OPERATOR_BLOCK ? (int)(count - done) : OPERATOR_BLOCK;
        if (!group_aggregate_write(&along->group_agg, along->aggregate, states + done, counts, places, some,
                                   along->result, col + done))
            *along->flagged = true;
    }
}

/* Adds rows begin .. end-1, of which the first goes to the first cell; those that many rows behind them are next. */
static void add_strip(const struct cols *cols, int64_t *states, int64_t begin, int64_t end, int64_t ahead)
{
    _Alignas(CACHE_LINE) int64_t space[BLOCK_ROWS];
    for (int64_t row = begin; row < end; row += BLOCK_ROWS) {
        int count = end - row < BLOCK_ROWS ? (int)(end - row) : BLOCK_ROWS;
        operator_ask_for(cols->along->column, row + ahead, count);
        cols->add(states + (row - begin), axis_values(cols->along->column, cols->lane, row, count, space), count);
    }
}

static void add_strips(void *context, int member, int64_t part)
{
    const struct cols *cols = context;
    int64_t *states = cols->states[member];
    if (!states) {
        states = cols->states[member] = heap_array((size_t)cols->width, sizeof *states);
        group_aggregate_clear(&cols->along->group_agg, states, 0, cols->width);
    }
    int64_t end = part_begin(&cols->parts, part + 1);
    for (int64_t strip = part_begin(&cols->parts, part); strip < end; strip++) {
        int64_t begin = strip * cols->width;
        add_strip(cols, states, begin, begin + cols->width < cols->rows ? begin + cols->width : cols->rows, BLOCK_ROWS);
    }
}

/* Adds up what the members have, and of each the copies of the columns. */
static void merge_cells(const struct cols *cols)
{
    struct axis_reduction *along = cols->along;
    group_states_fn *merge = adder(along->group_agg.kind, LANE_I64);
    int64_t *all = heap_array((size_t)along->groups, sizeof *all);
    group_aggregate_clear(&along->group_agg, all, 0, along->groups);
    for (int i = 0; i < along->workers->threads; i++) {
        for (int64_t copy = 0; cols->states[i] && copy < cols->width; copy += along->groups)
            merge(all, cols->states[i] + copy, (int)along->groups);
    }
    write_cells(cols, all, 0, along->groups);
    free(all);
}

static enum status by_strips(struct cols *cols)
{
    struct axis_reduction *along = cols->along;
    cols->width = along->groups < STRIP ? STRIP / along->groups * along->groups : along->groups;
    cols->states = heap_array((size_t)along->workers->threads, sizeof *cols->states);
    cols->parts = partition_rows(along->workers, (cols->rows - 1) / cols->width + 1, (PART_ROWS - 1) / cols->width + 1);
    bool done = workers_run(along->workers, cols->parts.count, add_strips, cols);
    if (done)
        merge_cells(cols);
    for (int i = 0; i < along->workers->threads; i++)
        free(cols->states[i]);
    free(cols->states);
    return done ? STATUS_OK : STATUS_CANCELLED;
}

static void add_columns(void *context, int member, int64_t part)
{
    (void)member;
    const struct cols *cols = context;
    struct axis_reduction *along = cols->along;
    _Alignas(CACHE_LINE) int64_t states[BLOCK_ROWS];
    int64_t end = part_begin(&cols->parts, part + 1);
    for (int64_t col = part_begin(&cols->parts, part); col < end; col += BLOCK_ROWS) {
        int count = end - col < BLOCK_ROWS ? (int)(end - col) : BLOCK_ROWS;
        group_aggregate_clear(&along->group_agg, states, 0, count);
        for (int64_t row = 0; row < along->length; row++)
            add_strip(cols, states, row * along->groups + col, row * along->groups + col + count, along->groups);
        write_cells(cols, states, col, count);
    }
}

static enum status by_columns(struct cols *cols)
{
    struct axis_reduction *along = cols->along;
    cols->parts = partition_rows(along->workers, along->groups, BLOCK_ROWS);
    return workers_run(along->workers, cols->parts.count, add_columns, cols) ? STATUS_OK : STATUS_CANCELLED;
}

enum status axis_cols(struct axis_reduction *along)
{
    struct cols cols = {.along = along, .lane = axis_lane(along->column), .rows = along->groups * along->length};
    cols.add = adder(along->group_agg.kind, cols.lane);
    return along->groups < WIDE ? by_strips(&cols) : by_columns(&cols);
}
