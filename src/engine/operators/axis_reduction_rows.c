/* Along rows: the rows of a group follow one another. */
#include "engine/operators/axis_reduction.h"
#include "engine/operators/elements.h"

#include "base/heap.h"
#include "engine/values/compensated_sum.h"
#include "engine/vector/ops.h"

#include <stdlib.h>

enum {
    PART_ROWS = 1 << 15,
    SHORT = 64, /* below this, a row's share of a block is added value by value */
};

/* Long rows, in pieces that threads add up one by one. */
struct pieces {
    struct axis_reduction *along;
    enum lane lane;
    fold_fn *fold;
    int64_t length, per_row;  /* of a piece; pieces of a row */
    struct agg_state *states; /* of all pieces, where a row has several */
    struct parts parts;       /* of the pieces */
};

static void finish_row(struct axis_reduction *along, const struct agg_state *state, int64_t row)
{
    struct scalar sum;
    bool certain;
    bool known = agg_value(state, along->aggregate, &sum, &certain);
    if (!known || !certain || (sum.kind == KIND_INT && !scalar_fits(&sum)))
        *along->flagged = true;
    else if (sum.kind == KIND_FLOAT)
        *(double *)column_at(along->result, row) = sum.number;
    else
        *(int64_t *)column_at(along->result, row) = (int64_t)sum.integer;
}

static void fold_rows(const struct pieces *pieces, struct agg_state *state, int64_t begin, int64_t end)
{
    _Alignas(CACHE_LINE) int64_t space[BLOCK_ROWS];
    for (int64_t row = begin; row < end; row += BLOCK_ROWS) {
        int count = end - row < BLOCK_ROWS ? (int)(end - row) : BLOCK_ROWS;
        operator_ask_for(pieces->along->column, row + count, count);
        pieces->fold(state, axis_values(pieces->along->column, pieces->lane, row, count, space), count);
    }
}

static void add_pieces(void *context, int member, int64_t part)
{
    (void)member;
    const struct pieces *pieces = context;
    struct axis_reduction *along = pieces->along;
    for (int64_t piece = part_begin(&pieces->parts, part); piece < part_begin(&pieces->parts, part + 1); piece++) {
        const int64_t row = piece / pieces->per_row, at = piece % pieces->per_row * pieces->length;
        const int64_t length = along->length - at < pieces->length ? along->length - at : pieces->length;
        struct agg_state own, *state = pieces->states ? &pieces->states[piece] : &own;
        agg_init(state, along->aggregate, &along->job->task->code);
        fold_rows(pieces, state, row * along->length + at, row * along->length + at + length);
        if (!pieces->states)
            finish_row(along, state, row);
    }
}

static void merge_pieces(const struct pieces *pieces)
{
    for (int64_t row = 0; row < pieces->along->groups; row++) {
        struct agg_state *state = &pieces->states[row * pieces->per_row];
        for (int64_t i = 1; i < pieces->per_row; i++)
            agg_merge(state, &state[i]);
        finish_row(pieces->along, state, row);
    }
}

static enum status long_rows(struct axis_reduction *along)
{
    struct pieces pieces = {.along = along, .lane = axis_lane(along->column), .length = along->length, .per_row = 1};
    struct group_aggregate block;
    group_aggregate_for(along->aggregate->kind, along->column, BLOCK_ROWS, &block);
    pieces.fold = vector_fold(along->aggregate->kind, pieces.lane, block.kind != GROUP_WIDE_SUM);
    if (along->length >= 2 * PART_ROWS) {
        pieces.length = PART_ROWS;
        pieces.per_row = (along->length - 1) / PART_ROWS + 1;
        pieces.states = heap_array((size_t)(along->groups * pieces.per_row), sizeof *pieces.states);
    }
    pieces.parts = partition_rows(along->workers, along->groups * pieces.per_row, (PART_ROWS - 1) / pieces.length + 1);
    bool done = workers_run(along->workers, pieces.parts.count, add_pieces, &pieces);
    if (done && pieces.states)
        merge_pieces(&pieces);
    free(pieces.states);
    return done ? STATUS_OK : STATUS_CANCELLED;
}

/* Short rows: a block has many, and always in the same places. */
struct block {
    struct axis_reduction *along;
    int rows;                          /* of the shape, in a block; */
    uint32_t place_of[OPERATOR_BLOCK]; /* which of them each value belongs to; */
    uint32_t places[OPERATOR_BLOCK];   /* themselves */
    int64_t counts[OPERATOR_BLOCK];
    struct parts parts; /* of the shape's rows */
};

static void add_blocks(void *context, int member, int64_t part)
{
    (void)member;
    const struct block *block = context;
    struct axis_reduction *along = block->along;
    _Alignas(CACHE_LINE) struct compensated_sum states[OPERATOR_BLOCK]; /* the largest of any tally's */
    int64_t values[OPERATOR_BLOCK];
    int64_t end = part_begin(&block->parts, part + 1);
    for (int64_t row = part_begin(&block->parts, part); row < end; row += block->rows) {
        const int rows = end - row < block->rows ? (int)(end - row) : block->rows;
        const int count = rows * (int)along->length;
        group_aggregate_clear(&along->group_agg, states, 0, rows);
        operator_values(along->column, row * along->length, count, values);
        group_aggregate_add(&along->group_agg, states, block->place_of, values, count);
        if (!group_aggregate_write(&along->group_agg, along->aggregate, states, block->counts, block->places, rows,
                                   along->result, row))
            *along->flagged = true;
    }
}

static enum status short_rows(struct axis_reduction *along)
{
    const int length = (int)along->length;
    struct block block = {.along = along, .rows = OPERATOR_BLOCK / length};
    for (int i = 0; i < block.rows * length; i++)
        block.place_of[i] = (uint32_t)(i / length);
    for (int i = 0; i < block.rows; i++) {
        block.places[i] = (uint32_t)i;
        block.counts[i] = length;
    }
    block.parts = partition_rows(along->workers, along->groups, PART_ROWS / length);
    return workers_run(along->workers, block.parts.count, add_blocks, &block) ? STATUS_OK : STATUS_CANCELLED;
}

enum status axis_rows(struct axis_reduction *along)
{
    return along->length < SHORT ? short_rows(along) : long_rows(along);
}
