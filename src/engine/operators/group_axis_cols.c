/* Along columns: what follows one another goes to neighbouring cells. */
#include "engine/operators/elements.h"
#include "engine/operators/group_axis.h"

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
typedef void cells_fn(void *cells, const void *values, int count);

/* Loops differ in the types, and in what becomes of a cell. */
#define CELLS(name, cell, type, result)                                                                                \
    CPU_CLONES static void name(void *cells, const void *values, int count)                                            \
    {                                                                                                                  \
        cell *restrict c = cells;                                                                                      \
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

static cells_fn *adder(enum tally_kind kind, enum lane lane)
{
    switch (kind) {
    case TALLY_SUM:
        return lane == LANE_I32 ? sum_i32 : sum_i64;
    case TALLY_MIN:
        return lane == LANE_I32 ? min_i32 : min_i64;
    case TALLY_MAX:
        return lane == LANE_I32 ? max_i32 : max_i64;
    case TALLY_FLOAT_MIN:
        return min_f64;
    case TALLY_FLOAT_MAX:
        return max_f64;
    default:
        return NULL;
    }
}

bool along_cols_takes(const struct tally *tally)
{
    return tally->kind == TALLY_COUNT || adder(tally->kind, LANE_I64) != NULL;
}

struct cols {
    struct along *along;
    enum lane lane;
    cells_fn *add;
    int64_t width;      /* of a strip */
    int64_t rows;       /* of the relation */
    int64_t **cells;    /* of each member, where all add to all columns; NULL until it has done something */
    struct parts parts; /* of the strips, or of the columns */
};

static void write_cells(const struct cols *cols, const int64_t *cells, int64_t col, int64_t count)
{
    struct along *along = cols->along;
    uint32_t places[BREAK_BLOCK];
    int64_t counts[BREAK_BLOCK];
    for (int i = 0; i < BREAK_BLOCK; i++) {
        places[i] = (uint32_t)i;
        counts[i] = along->length;
    }
    for (int64_t done = 0; done < count; done += BREAK_BLOCK) {
        int some = count - done < BREAK_BLOCK ? (int)(count - done) : BREAK_BLOCK;
        if (!tally_write(&along->tally, along->aggregate, cells + done, counts, places, some, along->result,
                         col + done))
            *along->flagged = true;
    }
}

/* Adds rows begin .. end-1, of which the first goes to the first cell; those that many rows behind them are next. */
static void add_strip(const struct cols *cols, int64_t *cells, int64_t begin, int64_t end, int64_t ahead)
{
    _Alignas(CACHE_LINE) int64_t space[BLOCK_ROWS];
    for (int64_t row = begin; row < end; row += BLOCK_ROWS) {
        int count = end - row < BLOCK_ROWS ? (int)(end - row) : BLOCK_ROWS;
        break_ask_for(cols->along->column, row + ahead, count);
        cols->add(cells + (row - begin), along_values(cols->along->column, cols->lane, row, count, space), count);
    }
}

static void add_strips(void *context, int member, int64_t part)
{
    const struct cols *cols = context;
    int64_t *cells = cols->cells[member];
    if (!cells) {
        cells = cols->cells[member] = heap_array((size_t)cols->width, sizeof *cells);
        tally_clear(&cols->along->tally, cells, 0, cols->width);
    }
    int64_t end = part_begin(&cols->parts, part + 1);
    for (int64_t strip = part_begin(&cols->parts, part); strip < end; strip++) {
        int64_t begin = strip * cols->width;
        add_strip(cols, cells, begin, begin + cols->width < cols->rows ? begin + cols->width : cols->rows, BLOCK_ROWS);
    }
}

/* Adds up what the members have, and of each the copies of the columns. */
static void merge_cells(const struct cols *cols)
{
    struct along *along = cols->along;
    cells_fn *merge = adder(along->tally.kind, LANE_I64);
    int64_t *all = heap_array((size_t)along->groups, sizeof *all);
    tally_clear(&along->tally, all, 0, along->groups);
    for (int i = 0; i < along->crew->threads; i++) {
        for (int64_t copy = 0; cols->cells[i] && copy < cols->width; copy += along->groups)
            merge(all, cols->cells[i] + copy, (int)along->groups);
    }
    write_cells(cols, all, 0, along->groups);
    free(all);
}

static enum status by_strips(struct cols *cols)
{
    struct along *along = cols->along;
    cols->width = along->groups < STRIP ? STRIP / along->groups * along->groups : along->groups;
    cols->cells = heap_array((size_t)along->crew->threads, sizeof *cols->cells);
    cols->parts = parts_of(along->crew, (cols->rows - 1) / cols->width + 1, (PART_ROWS - 1) / cols->width + 1);
    bool done = crew_run(along->crew, cols->parts.count, add_strips, cols);
    if (done)
        merge_cells(cols);
    for (int i = 0; i < along->crew->threads; i++)
        free(cols->cells[i]);
    free(cols->cells);
    return done ? STATUS_OK : STATUS_CANCELLED;
}

static void add_columns(void *context, int member, int64_t part)
{
    (void)member;
    const struct cols *cols = context;
    struct along *along = cols->along;
    _Alignas(CACHE_LINE) int64_t cells[BLOCK_ROWS];
    int64_t end = part_begin(&cols->parts, part + 1);
    for (int64_t col = part_begin(&cols->parts, part); col < end; col += BLOCK_ROWS) {
        int count = end - col < BLOCK_ROWS ? (int)(end - col) : BLOCK_ROWS;
        tally_clear(&along->tally, cells, 0, count);
        for (int64_t row = 0; row < along->length; row++)
            add_strip(cols, cells, row * along->groups + col, row * along->groups + col + count, along->groups);
        write_cells(cols, cells, col, count);
    }
}

static enum status by_columns(struct cols *cols)
{
    struct along *along = cols->along;
    cols->parts = parts_of(along->crew, along->groups, BLOCK_ROWS);
    return crew_run(along->crew, cols->parts.count, add_columns, cols) ? STATUS_OK : STATUS_CANCELLED;
}

enum status along_cols(struct along *along)
{
    struct cols cols = {.along = along, .lane = along_lane(along->column), .rows = along->groups * along->length};
    cols.add = adder(along->tally.kind, cols.lane);
    return along->groups < WIDE ? by_strips(&cols) : by_columns(&cols);
}
