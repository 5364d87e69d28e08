/* Moving aggregates of groups whose rows are anywhere: a state for each group, addressed by its number. Windows begin
 * with the group's first row, or end with its last, or both, so rows only enter the state. Parts of the rows have
 * states of their own; those of earlier parts are added before the results are written.
 *
 * Where a sum does not fit or its rounding is not certain, the rows are brought into the order of their groups after
 * all, and back. */
#include "engine/moving/moving.h"

#include "engine/plan/aggregate_join.h"
#include "engine/values/scalar.h"

#include "base/buffer_pool.h"
#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

/* An aggregate so far: its value, and the number of present values. */
struct tally {
    union {
        int64_t integer;
        double number;
    } value;
    int64_t count;
};

/* A sum of floats so far. */
struct float_tally {
    struct compensated_sum sum;
    int64_t count; /* of present values */
};

struct by_group {
    struct moving *moving;
    const struct workers *workers;
    int64_t groups;
    bool whole;     /* windows are whole groups */
    bool backwards; /* they end with the group's last row */
    bool sums;      /* of floats, in `float_tallies`; else `tallies` */
    struct parts parts;
    struct tally **tallies; /* of each part */
    struct float_tally **float_tallies;
    _Atomic bool trouble; /* only order helps */
};

/* Adds a present value, which in the group's order comes after (backwards: before) those so far. */
JOINS void add_value(enum aggregate_kind kind, bool number, bool backwards, struct tally *tally, int64_t integer,
                     double real, bool *overflow)
{
    const bool first = tally->count++ == 0, nearest = kind == AGG_FIRST || kind == AGG_LAST;
    const enum aggregate_kind join = kind == AGG_MEAN ? AGG_SUM : kind;
    if (kind == AGG_COUNT || (nearest && !first && (kind == AGG_FIRST) != backwards))
        return;
    if (number)
        tally->value.number = first || nearest ? real : aggregate_join_numbers(join, tally->value.number, real);
    else
        tally->value.integer =
            first || nearest ? integer : aggregate_join_integers(join, tally->value.integer, integer, overflow);
}

/* Adds the state of rows that come after those so far. */
static void merge(const struct by_group *by, struct tally *into, const struct tally *from, bool *overflow)
{
    const enum aggregate_kind kind = by->moving->op->kind;
    if (from->count == 0)
        return;
    const int64_t count = into->count + from->count;
    add_value(kind, by->moving->number, by->backwards, into, from->value.integer, from->value.number, overflow);
    into->count = count;
}

static void merge_float(struct float_tally *into, const struct float_tally *from)
{
    compensated_sum_merge(&into->sum, &from->sum);
    into->count += from->count;
}

/* A block of rows, from `row` on. */
struct group_block {
    int64_t groups[OPERATOR_BLOCK];
    union element_block values;
    union element_block results;
};

static void read_block(const struct by_group *by, int64_t row, int count, struct group_block *block)
{
    operator_values(by->moving->groups, row, count, block->groups);
    if (by->moving->values)
        operator_values(by->moving->values, row, count, &block->values);
}

JOINS void take_result(enum aggregate_kind kind, bool number, const struct tally *tally, struct group_block *block,
                       int i)
{
    const bool present = tally->count > 0;
    if (kind == AGG_COUNT)
        block->results.integers[i] = tally->count;
    else if (kind == AGG_MEAN)
        block->results.numbers[i] = present ? int128_quotient(tally->value.integer, tally->count) : 0;
    else if (number)
        block->results.numbers[i] =
            present ? tally->value.number + (kind == AGG_FIRST || kind == AGG_LAST ? -0.0 : 0.0) : 0;
    else
        block->results.integers[i] = present ? tally->value.integer : 0;
}

/* Rows of a block: adds them if `adds`, in the given direction, and takes results if `takes`. */
JOINS bool run_rows(const struct by_group *by, enum aggregate_kind kind, bool number, struct tally *tallies,
                    int64_t row, int count, struct group_block *block, bool adds, bool takes)
{
    const uint8_t *present = by->moving->present;
    uint8_t *result_present = by->moving->result_present;
    const bool backwards = by->backwards;
    bool overflow = false;
    for (int k = 0; k < count; k++) {
        const int i = backwards ? count - 1 - k : k;
        struct tally *tally = &tallies[block->groups[i]];
        if (adds && (!present || present[row + i]))
            add_value(kind, number, backwards, tally, block->values.integers[i], block->values.numbers[i], &overflow);
        if (!takes)
            continue;
        if (result_present)
            result_present[row + i] = tally->count > 0;
        take_result(kind, number, tally, block, i);
    }
    return overflow;
}

/* The loop of the operator's aggregate; leading ones are in moving_leading.c. A mean is that of a sum. */
static bool run_block(const struct by_group *by, struct tally *tallies, int64_t row, int count,
                      struct group_block *block, bool adds, bool takes)
{
    const enum aggregate_kind kind = by->moving->op->kind;
    const bool number = by->moving->number;
#define RUN(of, number)                                                                                                \
    if (kind == AGG_##of)                                                                                              \
        return run_rows(by, AGG_##of, number, tallies, row, count, block, adds, takes);
    RUN(COUNT, false)
    RUN(MEAN, false)
    RUN(FIRST, number)
    RUN(LAST, number)
#define AGGREGATE_JOIN(join, ...)         RUN(join, number)
#define AGGREGATE_JOIN_CHECKED(join, ...) RUN(join, false)
#include "engine/plan/aggregates.def"
#undef RUN
    return false;
}

/* Sums and means of floats. */
static bool sum_block(const struct by_group *by, struct float_tally *tallies, int64_t row, int count,
                      struct group_block *block, bool adds, bool takes)
{
    const struct moving *moving = by->moving;
    bool uncertain = false;
    for (int k = 0; k < count; k++) {
        const int i = by->backwards ? count - 1 - k : k;
        struct float_tally *tally = &tallies[block->groups[i]];
        if (adds && (!moving->present || moving->present[row + i])) {
            compensated_sum_add(&tally->sum, block->values.numbers[i]);
            tally->count++;
        }
        if (!takes)
            continue;
        if (moving->result_present)
            moving->result_present[row + i] = tally->count > 0;
        double total = tally->count > 0 ? compensated_sum_result(&tally->sum, &uncertain) : 0;
        if (moving->op->kind == AGG_MEAN && tally->count > 0)
            total = total / (double)tally->count + 0.0;
        block->results.numbers[i] = total;
    }
    return uncertain;
}

static void write_block(const struct by_group *by, int64_t row, int count, const struct group_block *block)
{
    const struct moving *moving = by->moving;
    if (!moving->result)
        return;
    if (moving->result->store == TYPE_F64)
        memcpy(column_at(moving->result, row), block->results.numbers, (size_t)count * sizeof(double));
    else
        operator_write_ints(moving->result, row, block->results.integers, count);
}

static void run_part(struct by_group *by, struct part part, int64_t states, bool adds, bool takes)
{
    struct group_block *block = heap_array(1, sizeof *block);
    const int64_t rows = part.end - part.begin;
    for (int64_t done = 0; done < rows && !by->trouble && !workers_cancelled(by->workers);) {
        const int count = rows - done < OPERATOR_BLOCK ? (int)(rows - done) : OPERATOR_BLOCK;
        const int64_t row = by->backwards ? part.end - done - count : part.begin + done;
        read_block(by, row, count, block);
        const bool trouble = by->sums ? sum_block(by, by->float_tallies[states], row, count, block, adds, takes)
                                      : run_block(by, by->tallies[states], row, count, block, adds, takes);
        if (trouble)
            by->trouble = true;
        if (takes)
            write_block(by, row, count, block);
        done += count;
    }
    free(block);
}

/* The states of each part alone. */
static void add_part(void *context, struct part part)
{
    run_part(context, part, part.number, true, false);
}

/* Results of a part, from the states before it. */
static void take_part(void *context, struct part part)
{
    struct by_group *by = context;
    run_part(by, part, by->whole ? 0 : part.number, !by->whole, true);
}

static void merge_group(struct by_group *by, int64_t into, int64_t from, int64_t group, bool *trouble)
{
    if (by->sums)
        merge_float(&by->float_tallies[into][group], &by->float_tallies[from][group]);
    else
        merge(by, &by->tallies[into][group], &by->tallies[from][group], trouble);
}

/* Whole groups: the states of all parts in those of part 0. Else: of each part those of all before it (backwards: after
 * it), from the first in that order, whose states before it are empty. */
static void merge_parts(struct by_group *by)
{
    bool trouble = false;
    const int64_t count = by->parts.count;
    if (by->whole) {
        for (int64_t part = 1; part < count; part++) {
            for (int64_t group = 0; group < by->groups; group++)
                merge_group(by, 0, part, group, &trouble);
        }
    } else {
        for (int64_t group = 0; group < by->groups; group++) {
            struct tally so_far = {.count = 0};
            struct float_tally float_so_far = {.count = 0};
            for (int64_t k = 0; k < count; k++) {
                const int64_t part = by->backwards ? count - 1 - k : k;
                if (by->sums) {
                    struct float_tally own = by->float_tallies[part][group];
                    by->float_tallies[part][group] = float_so_far;
                    merge_float(&float_so_far, &own);
                } else {
                    struct tally own = by->tallies[part][group];
                    by->tallies[part][group] = so_far;
                    merge(by, &so_far, &own, &trouble);
                }
            }
        }
    }
    if (trouble)
        by->trouble = true;
}

static int64_t count_groups(const struct moving *moving, const struct workers *workers)
{
    int64_t groups[OPERATOR_BLOCK], most = -1;
    for (int64_t row = 0; row < moving->rows && !workers_cancelled(workers); row += OPERATOR_BLOCK) {
        const int count = moving->rows - row < OPERATOR_BLOCK ? (int)(moving->rows - row) : OPERATOR_BLOCK;
        operator_values(moving->groups, row, count, groups);
        for (int i = 0; i < count; i++)
            most = groups[i] > most ? groups[i] : most;
    }
    return most + 1;
}

static int64_t tally_bytes(const struct by_group *by)
{
    return by->sums ? (int64_t)sizeof(struct float_tally) : (int64_t)sizeof(struct tally);
}

/* Parts of the rows, as many as their states are small beside the rows, and as memory holds. */
static struct parts divide(const struct by_group *by, int64_t rows)
{
    enum { FEWEST_ROWS = 1 << 16, ROWS_A_GROUP = 4 };
    const int64_t most = rows / (ROWS_A_GROUP * by->groups + FEWEST_ROWS);
    int64_t count = min_int64(by->workers->threads, most);
    while (count > 1 && !buffer_pool_has(by->workers->pool, count * (by->groups + 1) * tally_bytes(by)))
        count--;
    count = count > 1 ? count : 1;
    const int64_t size = divide_up(rows, count);
    return (struct parts){.rows = rows, .size = size, .count = divide_up(rows, size)};
}

/* ---- in the order of the groups ---- */

struct ordered {
    uint64_t *order;
    struct column *values, *present, *groups, *result, *result_present;
    uint8_t *failed;
};

/* The rows in the order of their groups, stable. */
static uint64_t *order_rows(const struct moving *moving, int64_t groups, struct pool_array *array)
{
    struct pool_array nexts;
    uint64_t *order = pool_array_new(array, moving->workers->pool, (size_t)moving->rows, sizeof *order);
    int64_t *next = pool_array_new(&nexts, moving->workers->pool, (size_t)groups + 1, sizeof *next);
    for (int64_t row = 0; row < moving->rows; row++)
        next[column_get_int(moving->groups, row) + 1]++;
    for (int64_t group = 0; group < groups; group++)
        next[group + 1] += next[group];
    for (int64_t row = 0; row < moving->rows; row++)
        order[next[column_get_int(moving->groups, row)]++] = (uint64_t)row;
    pool_array_free(&nexts);
    return order;
}

static struct column *ordered_column(struct buffer_pool *pool, const struct column *from, const uint64_t *order,
                                     int64_t rows)
{
    struct column *column = column_reserve_from(pool, from->store, from->store, rows);
    for (int64_t row = 0; column && row < rows; row += OPERATOR_BLOCK) {
        const int count = rows - row < OPERATOR_BLOCK ? (int)(rows - row) : OPERATOR_BLOCK;
        column_gather(from, order + row, count, column_at(column, row));
    }
    if (column)
        column_finish(column, rows);
    return column;
}

static void move_back(const struct column *from, const uint64_t *order, int64_t rows, struct column *to)
{
    const size_t size = type_table[to->store].size;
    char *result = column_at(to, 0);
    for (int64_t row = 0; row < rows; row++)
        memcpy(result + order[row] * size, (const char *)from->data + (size_t)row * size, size);
}

static enum status run_in_order(struct moving *moving, int64_t groups, const struct workers *workers)
{
    const int64_t rows = moving->rows;
    struct moving inside = *moving;
    struct column *const result = moving->result;
    struct buffer_pool *pool = workers->pool;
    struct pool_array orders, flags[3];
    uint64_t *order = order_rows(moving, groups, &orders);
    struct column *values = moving->values ? ordered_column(pool, moving->values, order, rows) : NULL;
    struct column *ids = ordered_column(pool, moving->groups, order, rows);
    struct column *results = result ? column_reserve_from(pool, result->store, result->store, rows) : NULL;
    uint8_t *present = pool_array_new(&flags[0], pool, (size_t)rows + 1, 1);
    uint8_t *result_present = pool_array_new(&flags[1], pool, (size_t)rows + 1, 1);
    uint8_t *failed = pool_array_new(&flags[2], pool, (size_t)rows + 1, 1);
    enum status status = ids && (values || !moving->values) && (results || !result) ? STATUS_OK : STATUS_FAILED;
    for (int64_t row = 0; row < rows && moving->present; row++)
        present[row] = moving->present[order[row]];
    inside.groups = ids;
    inside.values = values;
    inside.present = moving->present ? present : NULL;
    inside.result = results;
    inside.result_present = moving->result_present ? result_present : NULL;
    inside.failed = moving->failed ? failed : NULL;
    if (status == STATUS_OK && !moving_run_parts(&inside, workers))
        status = STATUS_CANCELLED;
    if (status == STATUS_OK && results) {
        column_finish(results, rows);
        move_back(results, order, rows, result);
    }
    for (int64_t row = 0; row < rows && status == STATUS_OK; row++) {
        if (moving->result_present)
            moving->result_present[order[row]] = result_present[row];
        if (moving->failed)
            moving->failed[order[row]] = failed[row];
    }
    if (inside.flagged)
        moving->flagged = true;
    column_unref(values);
    column_unref(ids);
    column_unref(results);
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
        pool_array_free(&flags[k]);
    pool_array_free(&orders);
    return status;
}

enum status moving_by_group(struct moving *moving, const struct workers *workers)
{
    const struct moving_operator *op = moving->op;
    struct by_group by = {.moving = moving,
                          .workers = workers,
                          .groups = count_groups(moving, workers),
                          .whole = op->from_first && op->to_last,
                          .backwards = !op->from_first,
                          .sums = moving->number && aggregate_table[op->kind].sums};
    by.parts = divide(&by, moving->rows);
    if (op->kind == AGG_LEADING)
        return moving_leading(moving, by.groups, by.parts, workers) ? STATUS_OK : STATUS_CANCELLED;
    const size_t parts = (size_t)by.parts.count, groups = (size_t)by.groups;
    by.tallies = heap_array(parts, sizeof(struct tally *));
    by.float_tallies = heap_array(parts, sizeof(struct float_tally *));
    struct pool_array *states = heap_array(parts, sizeof *states);
    for (size_t part = 0; part < parts; part++) {
        void *all = pool_array_new(&states[part], workers->pool, groups + 1, (size_t)tally_bytes(&by));
        by.tallies[part] = by.sums ? NULL : all;
        by.float_tallies[part] = by.sums ? all : NULL;
    }
    bool done = true;
    if (by.whole || parts > 1) {
        done = workers_run_parts(workers, &by.parts, add_part, &by);
        merge_parts(&by);
    }
    done = done && workers_run_parts(workers, &by.parts, take_part, &by);
    for (size_t part = 0; part < parts; part++)
        pool_array_free(&states[part]);
    free(states);
    free(by.tallies);
    free(by.float_tallies);
    if (!done)
        return STATUS_CANCELLED;
    return by.trouble ? run_in_order(moving, by.groups, workers) : STATUS_OK;
}
