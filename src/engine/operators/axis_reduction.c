#include "engine/operators/axis_reduction.h"

#include "base/cpu_dispatch.h"
#include "base/heap.h"
#include "base/integer.h"
#include "engine/grouping/group_aggregate.h"
#include "engine/plan/aggregate_join.h"
#include "engine/values/compensated_sum.h"
#include "engine/vector/elements.h"
#include "engine/vector/ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEY, RESULT }; /* outputs */
enum { PART_ROWS = 1 << 15 };

/* One aggregate of each line along an axis of a shape. */
struct axis_reduction {
    const struct operator_job *job;
    const struct workers *workers;
    const struct aggregate *aggregate;
    const struct column *column;      /* that is aggregated; NULL for count */
    struct group_aggregate group_agg; /* of a group of `length` rows */
    int64_t groups, length;
    int64_t inner, blocks; /* lines side by side, and how often there are such: groups = inner * blocks */
    struct column *result; /* a row for each group */
    _Atomic bool *flagged; /* set where a sum does not fit, or is not certain */
};

/* ---- along columns: consecutive rows go to neighbouring states ---- */

enum {
    STRIP = 1 << 10, /* fewer columns than this are repeated side by side up to this width, so that loops are long */
    WIDE = 1 << 14,  /* from this many columns on, each thread aggregates blocks of columns instead of strips of rows */
};

/* Adds values[i] to states[i]. */
typedef void add_fn(void *states, const void *values, int count);

/* One loop for each type and operation. */
#define CELLS(name, cell, type, joined)                                                                                \
    CPU_CLONES static void name(void *states, const void *values, int count)                                           \
    {                                                                                                                  \
        cell *restrict c = states;                                                                                     \
        const type *restrict v = values;                                                                               \
        bool unread = false; /* sums are known to fit */                                                               \
        (void)unread;                                                                                                  \
        for (int i = 0; i < count; i++)                                                                                \
            c[i] = joined;                                                                                             \
    }
#define AGGREGATE_JOIN(join, ...)                                                                                      \
    CELLS(join##_i32, int64_t, int32_t, aggregate_join_integers(AGG_##join, c[i], v[i], &unread))                      \
    CELLS(join##_i64, int64_t, int64_t, aggregate_join_integers(AGG_##join, c[i], v[i], &unread))
#define AGGREGATE_JOIN_CHECKED AGGREGATE_JOIN
#define AGGREGATE_JOIN_NUMBERS(join, ...)                                                                              \
    CELLS(join##_f64, double, double, aggregate_join_numbers(AGG_##join, c[i], v[i]))
#include "engine/plan/aggregates.def"
#undef CELLS

/* NULL: there is none. */
static add_fn *adder(const struct group_aggregate *group_agg, enum lane lane)
{
    static add_fn *const table[AGG_KINDS][LANE_F64 + 1] = {
#define AGGREGATE_JOIN(join, ...)         [AGG_##join][LANE_I32] = join##_i32, [AGG_##join][LANE_I64] = join##_i64,
#define AGGREGATE_JOIN_CHECKED            AGGREGATE_JOIN
#define AGGREGATE_JOIN_NUMBERS(join, ...) [AGG_##join][LANE_F64] = join##_f64,
#include "engine/plan/aggregates.def"
    };
    if (group_agg->form == STATE_NUMBER)
        return table[group_agg->kind][LANE_F64];
    return group_agg->form == STATE_INTEGER ? table[group_agg->kind][lane] : NULL;
}

/* The parts of a float sum: high, low, rest and weight (compensated_sum.h), and the sum of infinities and NaNs. */
enum { FLOAT_PARTS = 5 };

/* Adds values[i] to sum i. */
CPU_CLONES static void sum_f64(double *restrict high, double *restrict low, double *restrict rest,
                               double *restrict weight, double *restrict other, const double *restrict values,
                               int count)
{
    for (int i = 0; i < count; i++) {
        const double x = values[i];
        const bool finite = fabs(x) <= DBL_MAX;
        const double term = finite ? x : 0, odd = finite ? 0 : x;
        compensated_add(&high[i], &low[i], &rest[i], &weight[i], term);
        other[i] += odd;
    }
}

/* Adds values[i] to sum i, whose parts are `spread` apart. */
static void sum_floats(void *states, int64_t spread, const void *values, int count)
{
    double *high = states, *low = high + spread, *rest = low + spread, *weight = rest + spread;
    sum_f64(high, low, rest, weight, weight + spread, values, count);
}

static struct compensated_sum float_sum(const double *high, int64_t spread, int64_t count)
{
    const double *low = high + spread, *rest = low + spread, *weight = rest + spread, *other = weight + spread;
    return (struct compensated_sum){.high = *high,
                                    .low = *low,
                                    .rest = *rest,
                                    .weight = *weight,
                                    .count = count,
                                    .positive_inf = *other > 0,
                                    .negative_inf = *other < 0,
                                    .nan = *other != *other};
}

static bool cols_supports(const struct group_aggregate *group_agg)
{
    return group_agg->kind == AGG_COUNT || group_agg->form == STATE_FLOAT_SUM || adder(group_agg, LANE_I64);
}

struct cols {
    struct axis_reduction *reduction;
    enum lane lane;
    add_fn *add;      /* NULL: float sums */
    int64_t width;    /* of a strip: columns, with copies */
    int64_t rows;     /* of the relation */
    int64_t **states; /* by strips: of each thread, or the parts of float sums; NULL until it has run a part */
};

static void clear_states(const struct cols *cols, int64_t *states, int64_t count)
{
    if (cols->add)
        group_aggregate_clear(&cols->reduction->group_agg, states, 0, count);
    else
        memset(states, 0, (size_t)(FLOAT_PARTS * count) * sizeof *states);
}

static void write_states(const struct cols *cols, const void *states, int64_t col, int64_t count)
{
    struct axis_reduction *reduction = cols->reduction;
    const size_t size = group_aggregate_size(&reduction->group_agg);
    uint32_t places[OPERATOR_BLOCK];
    int64_t counts[OPERATOR_BLOCK];
    for (int i = 0; i < OPERATOR_BLOCK; i++) {
        places[i] = (uint32_t)i;
        counts[i] = reduction->length;
    }
    for (int64_t done = 0; done < count; done += OPERATOR_BLOCK) {
        const int some = count - done < OPERATOR_BLOCK ? (int)(count - done) : OPERATOR_BLOCK;
        if (!group_aggregate_write(&reduction->group_agg, reduction->aggregate,
                                   (const char *)states + (size_t)done * size, counts, places, some, reduction->result,
                                   col + done))
            *reduction->flagged = true;
    }
}

/* Adds rows begin..end-1 to consecutive states, or to float sums whose parts are `spread` apart; prefetches the rows
 * `ahead` rows further on. */
static void add_strip(const struct cols *cols, int64_t *states, int64_t spread, int64_t begin, int64_t end,
                      int64_t ahead)
{
    _Alignas(CACHE_LINE) int64_t space[BLOCK_ROWS];
    for (int64_t row = begin; row < end; row += BLOCK_ROWS) {
        const int count = end - row < BLOCK_ROWS ? (int)(end - row) : BLOCK_ROWS;
        operator_prefetch(cols->reduction->column, row + ahead, count);
        const void *values = axis_values(cols->reduction->column, cols->lane, row, count, space);
        if (cols->add)
            cols->add(states + (row - begin), values, count);
        else
            sum_floats(states + (row - begin), spread, values, count);
    }
}

static void add_strips(void *context, struct part part)
{
    const struct cols *cols = context;
    int64_t *states = cols->states[part.member];
    if (!states) {
        states = cols->states[part.member] = heap_array((size_t)(FLOAT_PARTS * cols->width), sizeof *states);
        clear_states(cols, states, cols->width);
    }
    for (int64_t strip = part.begin; strip < part.end; strip++) {
        const int64_t begin = strip * cols->width;
        add_strip(cols, states, cols->width, begin, min_int64(begin + cols->width, cols->rows), BLOCK_ROWS);
    }
}

static void merge_float_sums(const struct cols *cols)
{
    const struct axis_reduction *reduction = cols->reduction;
    struct compensated_sum *all = heap_array((size_t)reduction->groups, sizeof *all);
    for (int i = 0; i < reduction->workers->threads; i++) {
        for (int64_t k = 0; cols->states[i] && k < cols->width; k++) {
            const struct compensated_sum sum =
                float_sum((const double *)(const void *)cols->states[i] + k, cols->width, 0);
            compensated_sum_merge(&all[k % reduction->groups], &sum);
        }
    }
    for (int64_t k = 0; k < reduction->groups; k++)
        all[k].count = reduction->length;
    write_states(cols, all, 0, reduction->groups);
    free(all);
}

/* Merges the states of all threads and copies. */
static void merge_states(const struct cols *cols)
{
    if (!cols->add) {
        merge_float_sums(cols);
        return;
    }
    struct axis_reduction *reduction = cols->reduction;
    add_fn *merge = adder(&reduction->group_agg, LANE_I64);
    int64_t *all = heap_array((size_t)reduction->groups, sizeof *all);
    group_aggregate_clear(&reduction->group_agg, all, 0, reduction->groups);
    for (int i = 0; i < reduction->workers->threads; i++) {
        for (int64_t copy = 0; cols->states[i] && copy < cols->width; copy += reduction->groups)
            merge(all, cols->states[i] + copy, (int)reduction->groups);
    }
    write_states(cols, all, 0, reduction->groups);
    free(all);
}

static enum status by_strips(struct cols *cols)
{
    struct axis_reduction *reduction = cols->reduction;
    cols->width = reduction->groups < STRIP ? STRIP / reduction->groups * reduction->groups : reduction->groups;
    cols->states = heap_array((size_t)reduction->workers->threads, sizeof *cols->states);
    const bool done = workers_run_rows(reduction->workers, (cols->rows - 1) / cols->width + 1,
                                       (PART_ROWS - 1) / cols->width + 1, add_strips, cols);
    if (done)
        merge_states(cols);
    for (int i = 0; i < reduction->workers->threads; i++)
        free(cols->states[i]);
    free(cols->states);
    return done ? STATUS_OK : STATUS_CANCELLED;
}

/* Lines first..end-1, in pieces of lines side by side. */
static void add_columns(void *context, struct part part)
{
    const struct cols *cols = context;
    struct axis_reduction *reduction = cols->reduction;
    const int64_t inner = reduction->inner, end = part.end;
    _Alignas(CACHE_LINE) int64_t states[BLOCK_ROWS];
    struct compensated_sum sums[BLOCK_ROWS / FLOAT_PARTS];
    const int64_t fits = cols->add ? BLOCK_ROWS : BLOCK_ROWS / FLOAT_PARTS;
    int count;
    for (int64_t line = part.begin; line < end; line += count) {
        const int64_t most = min_int64(end - line, inner - line % inner);
        const int64_t first = (line / inner * reduction->length) * inner + line % inner;
        count = (int)min_int64(most, fits);
        clear_states(cols, states, count);
        for (int64_t row = 0; row < reduction->length; row++)
            add_strip(cols, states, count, first + row * inner, first + row * inner + count, inner);
        for (int i = 0; i < count && !cols->add; i++)
            sums[i] = float_sum((const double *)(const void *)states + i, count, reduction->length);
        write_states(cols, cols->add ? (const void *)states : sums, line, count);
    }
}

static enum status by_columns(struct cols *cols)
{
    struct axis_reduction *reduction = cols->reduction;
    const int64_t least = reduction->blocks == 1 ? BLOCK_ROWS : PART_ROWS / reduction->length + 1;
    return workers_run_rows(reduction->workers, reduction->groups, least, add_columns, cols) ? STATUS_OK
                                                                                             : STATUS_CANCELLED;
}

static enum status axis_cols(struct axis_reduction *reduction)
{
    struct cols cols = {
        .reduction = reduction, .lane = axis_lane(reduction->column), .rows = reduction->groups * reduction->length};
    cols.add = adder(&reduction->group_agg, cols.lane);
    return reduction->groups < WIDE && reduction->blocks == 1 ? by_strips(&cols) : by_columns(&cols);
}

/* ---- along rows: the rows of a group are consecutive ---- */

enum {
    SHORT = 64, /* shorter rows are added value by value, several rows at once */
};

/* Long rows, in pieces that threads aggregate. */
struct pieces {
    struct axis_reduction *reduction;
    enum lane lane;
    fold_fn *fold;
    int64_t length, per_row;  /* of a piece; pieces of each row */
    struct agg_state *states; /* of all pieces; NULL: a row is one piece */
};

static void finish_row(struct axis_reduction *reduction, const struct agg_state *state, int64_t row)
{
    struct scalar sum;
    bool certain;
    const bool known = agg_value(state, reduction->aggregate, &sum, &certain);
    if (!known || !certain || (sum.kind == KIND_INT && !scalar_fits(&sum)))
        *reduction->flagged = true;
    else if (sum.kind == KIND_FLOAT)
        *(double *)column_at(reduction->result, row) = sum.number;
    else
        *(int64_t *)column_at(reduction->result, row) = (int64_t)sum.integer;
}

static void fold_rows(const struct pieces *pieces, struct agg_state *state, int64_t begin, int64_t end)
{
    _Alignas(CACHE_LINE) int64_t space[BLOCK_ROWS];
    for (int64_t row = begin; row < end; row += BLOCK_ROWS) {
        const int count = end - row < BLOCK_ROWS ? (int)(end - row) : BLOCK_ROWS;
        operator_prefetch(pieces->reduction->column, row + count, count);
        pieces->fold(state, axis_values(pieces->reduction->column, pieces->lane, row, count, space), count);
    }
}

static void add_pieces(void *context, struct part part)
{
    const struct pieces *pieces = context;
    struct axis_reduction *reduction = pieces->reduction;
    for (int64_t piece = part.begin; piece < part.end; piece++) {
        const int64_t row = piece / pieces->per_row, at = piece % pieces->per_row * pieces->length;
        const int64_t length = reduction->length - at < pieces->length ? reduction->length - at : pieces->length;
        struct agg_state own, *state = pieces->states ? &pieces->states[piece] : &own;
        agg_init(state, reduction->aggregate, &reduction->job->task->code);
        fold_rows(pieces, state, row * reduction->length + at, row * reduction->length + at + length);
        if (!pieces->states)
            finish_row(reduction, state, row);
    }
}

static void merge_pieces(const struct pieces *pieces)
{
    for (int64_t row = 0; row < pieces->reduction->groups; row++) {
        struct agg_state *state = &pieces->states[row * pieces->per_row];
        for (int64_t i = 1; i < pieces->per_row; i++)
            agg_merge(state, &state[i]);
        finish_row(pieces->reduction, state, row);
    }
}

static enum status long_rows(struct axis_reduction *reduction)
{
    struct pieces pieces = {
        .reduction = reduction, .lane = axis_lane(reduction->column), .length = reduction->length, .per_row = 1};
    struct group_aggregate block;
    group_aggregate_for(reduction->aggregate->kind, reduction->column, BLOCK_ROWS, &block);
    pieces.fold = vector_fold(reduction->aggregate->kind, pieces.lane, block.form != STATE_WIDE_SUM);
    if (reduction->length >= 2 * PART_ROWS) {
        pieces.length = PART_ROWS;
        pieces.per_row = (reduction->length - 1) / PART_ROWS + 1;
        pieces.states = heap_array((size_t)(reduction->groups * pieces.per_row), sizeof *pieces.states);
    }
    const bool done = workers_run_rows(reduction->workers, reduction->groups * pieces.per_row,
                                       (PART_ROWS - 1) / pieces.length + 1, add_pieces, &pieces);
    if (done && pieces.states)
        merge_pieces(&pieces);
    free(pieces.states);
    return done ? STATUS_OK : STATUS_CANCELLED;
}

/* Short rows: a block has many, and always in the same places. */
struct block {
    struct axis_reduction *reduction;
    int rows;                          /* of the shape, in a block; */
    uint32_t place_of[OPERATOR_BLOCK]; /* which of them each value belongs to; */
    uint32_t places[OPERATOR_BLOCK];   /* themselves */
    int64_t counts[OPERATOR_BLOCK];
};

static void add_blocks(void *context, struct part part)
{
    const struct block *block = context;
    struct axis_reduction *reduction = block->reduction;
    _Alignas(CACHE_LINE) struct compensated_sum states[OPERATOR_BLOCK]; /* the largest state of any aggregate */
    int64_t values[OPERATOR_BLOCK];
    for (int64_t row = part.begin; row < part.end; row += block->rows) {
        const int rows = part.end - row < block->rows ? (int)(part.end - row) : block->rows;
        const int count = rows * (int)reduction->length;
        group_aggregate_clear(&reduction->group_agg, states, 0, rows);
        operator_values(reduction->column, row * reduction->length, count, values);
        group_aggregate_add(&reduction->group_agg, states, block->place_of, &(struct group_values){.values = values},
                            count);
        if (!group_aggregate_write(&reduction->group_agg, reduction->aggregate, states, block->counts, block->places,
                                   rows, reduction->result, row))
            *reduction->flagged = true;
    }
}

static enum status short_rows(struct axis_reduction *reduction)
{
    const int length = (int)reduction->length;
    struct block block = {.reduction = reduction, .rows = OPERATOR_BLOCK / length};
    for (int i = 0; i < block.rows * length; i++)
        block.place_of[i] = (uint32_t)(i / length);
    for (int i = 0; i < block.rows; i++) {
        block.places[i] = (uint32_t)i;
        block.counts[i] = length;
    }
    return workers_run_rows(reduction->workers, reduction->groups, PART_ROWS / length, add_blocks, &block)
               ? STATUS_OK
               : STATUS_CANCELLED;
}

static enum status axis_rows(struct axis_reduction *reduction)
{
    return reduction->length < SHORT ? short_rows(reduction) : long_rows(reduction);
}

/* ---- both ---- */

static int64_t group_length(const struct operator_job *job)
{
    const struct column_operator *column_op = job->task->column_op;
    return (column_op->segment > 0 ? column_op->segment : job->rows) / column_op->stride;
}

static const struct column *column_of(const struct operator_job *job)
{
    const struct aggregate *aggregate = &job->task->aggregates[0];
    return aggregate->value == NO_VALUE ? NULL : operator_input(job, aggregate->value);
}

bool axis_supports(const struct operator_job *job)
{
    const struct task *task = job->task;
    const struct column_operator *column_op = task->column_op;
    struct group_aggregate group_agg;
    if ((column_op->segment == 0 && column_op->stride == 1) || task->outputs[KEY].needed ||
        !task->outputs[RESULT].needed)
        return false;
    if (!group_aggregate_for(task->aggregates[0].kind, column_of(job), group_length(job), &group_agg) ||
        group_agg.kind == AGG_PRODUCT)
        return false;
    return column_op->stride == 1 || cols_supports(&group_agg);
}

static enum status fill_counts(const struct axis_reduction *reduction)
{
    int64_t *counts = column_at(reduction->result, 0);
    for (int64_t i = 0; i < reduction->groups; i++)
        counts[i] = reduction->length;
    return STATUS_OK;
}

enum status axis_run(const struct operator_job *job, const struct workers *workers, _Atomic bool *flagged)
{
    struct axis_reduction reduction = {
        .job = job,
        .workers = workers,
        .aggregate = &job->task->aggregates[0],
        .column = column_of(job),
        .length = group_length(job),
        .inner = job->task->column_op->stride,
        .flagged = flagged,
    };
    const enum type type = job->task->outputs[RESULT].type;
    reduction.groups = job->rows / reduction.length;
    reduction.blocks = reduction.groups / reduction.inner;
    group_aggregate_for(reduction.aggregate->kind, reduction.column, reduction.length, &reduction.group_agg);
    reduction.result = job->results[RESULT] = column_reserve_from(job->pool, type, type, reduction.groups);
    if (!reduction.result)
        return STATUS_FAILED;
    *job->result_rows = reduction.groups;
    if (!reduction.column)
        return fill_counts(&reduction);
    return reduction.inner == 1 ? axis_rows(&reduction) : axis_cols(&reduction);
}
