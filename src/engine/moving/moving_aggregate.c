/* Moving aggregates of a block of rows. Extremes of windows that lose rows are the front of a monotonic queue (D.
 * Lemire, "Streaming maximum-minimum filter using no more than three comparisons per element", 2006). */
#include "engine/moving/moving.h"

#include "engine/plan/aggregate_join.h"
#include "engine/values/scalar.h"

#include "base/heap.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

void element_reader_fill(struct element_reader *reader, int64_t row)
{
    /* Going backwards, it is the block's last element. */
    const int64_t begin = row < reader->begin ? max_int64(0, row - OPERATOR_BLOCK + 1) : row;
    const int64_t left = reader->column->rows - begin;
    reader->begin = begin;
    reader->count = left < OPERATOR_BLOCK ? (int)left : OPERATOR_BLOCK;
    operator_values(reader->column, begin, reader->count, &reader->block);
}

void moving_total_init(const struct moving *moving, struct moving_total *total)
{
    const struct aggregate_info *info = &aggregate_table[moving->op->kind];
    *total = (struct moving_total){.integer = info->none, .number = info->number_none};
}

static void moving_total_merge(const struct moving *moving, struct moving_total *into, const struct moving_total *from)
{
    const enum aggregate_kind kind = moving->op->kind;
    bool unread = false;
    into->sum += from->sum;
    compensated_sum_merge(&into->number_sum, &from->number_sum);
    into->count += from->count;
    into->nan += from->nan;
    into->positive_inf += from->positive_inf;
    into->negative_inf += from->negative_inf;
    into->integer = aggregate_join_integers(kind, into->integer, from->integer, &unread);
    into->number = aggregate_join_numbers(kind, into->number, from->number);
}

/* Adds `sign` times a float to the sum. */
static inline void add_number(struct moving_total *total, double number, int sign)
{
    total->count += sign;
    if (fabs(number) <= DBL_MAX) {
        compensated_sum_add(&total->number_sum, sign * number);
        return;
    }
    total->nan += isnan(number) ? sign : 0;
    total->positive_inf += number > 0 ? sign : 0;
    total->negative_inf += number < 0 ? sign : 0;
}

/* One loop for each extreme, and one for the others. */
JOINS void add_total(const struct moving *moving, enum aggregate_kind extreme, struct moving_total *total,
                     struct element_reader *reader, int64_t begin, int64_t end)
{
    bool unread = false;
    for (int64_t row = begin; row < end; row++) {
        if (!is_present(moving, row))
            continue;
        if (extreme == AGG_SUM && moving->values && moving->number) {
            add_number(total, element_number(reader, row), 1);
            continue;
        }
        total->count++;
        if (extreme == AGG_SUM)
            total->sum += moving->values ? element_integer(reader, row) : 0;
        else if (moving->number)
            total->number = aggregate_join_numbers(extreme, total->number, element_number(reader, row));
        else
            total->integer = aggregate_join_integers(extreme, total->integer, element_integer(reader, row), &unread);
    }
}

void moving_total_add(const struct moving *moving, struct moving_total *total, struct element_reader *reader,
                      int64_t begin, int64_t end)
{
    const enum aggregate_kind kind = moving->op->kind;
    if (!aggregate_table[kind].extreme)
        add_total(moving, AGG_SUM, total, reader, begin, end);
#define AGGREGATE_JOIN(join, ...)                                                                                      \
    if (kind == AGG_##join)                                                                                            \
        add_total(moving, AGG_##join, total, reader, begin, end);
#include "engine/plan/aggregates.def"
}

/* Adds the rows, of whole parts by their totals where these are known. */
static void add_rows(struct moving_part *part, int64_t begin, int64_t end)
{
    const struct moving *moving = part->moving;
    const int64_t size = moving->parts.size;
    while (begin < end) {
        int64_t next = min_int64(end, (begin / size + 1) * size);
        const int64_t whole = begin / size;
        if (begin % size == 0 && moving->totals && moving->has_total[whole] &&
            part_begin(&moving->parts, whole + 1) <= end) {
            moving_total_merge(moving, &part->total, &moving->totals[whole]);
            next = part_begin(&moving->parts, whole + 1);
        } else {
            moving_total_add(moving, &part->total, &part->entering, begin, next);
        }
        begin = next;
    }
}

/* ---- sums and counts ---- */

static void remove_rows(struct moving_part *part, int64_t begin, int64_t end)
{
    const struct moving *moving = part->moving;
    for (int64_t row = begin; row < end; row++) {
        if (!is_present(moving, row))
            continue;
        if (!moving->values) {
            part->total.count--;
        } else if (moving->number) {
            add_number(&part->total, element_number(&part->leaving, row), -1);
        } else {
            part->total.count--;
            part->total.sum -= element_integer(&part->leaving, row);
        }
    }
}

static inline void slide(struct moving_part *part, int64_t first, int64_t last)
{
    if (first >= part->to) {
        moving_total_init(part->moving, &part->total);
        part->from = part->to = first;
    }
    if (last > part->to) {
        add_rows(part, part->to, last);
        part->to = last;
    }
    remove_rows(part, part->from, first);
    part->from = first;
}

/* Adds `sign` times the finite values of the rows to the exact sum. */
static void add_exactly(struct moving_part *part, struct element_reader *reader, int64_t begin, int64_t end, int sign)
{
    for (int64_t row = begin; row < end; row++) {
        const double number = is_present(part->moving, row) ? element_number(reader, row) : 0;
        if (fabs(number) <= DBL_MAX)
            exact_sum_add(part->exact, sign * number);
    }
}

/* The sum of the finite values of the window. Rows enter and leave the exact sum as they do the compensated one, but
 * only when it is asked for. */
static double exact_window_sum(struct moving_part *part, int64_t first, int64_t last)
{
    if (!part->exact)
        part->exact = heap_array(1, sizeof *part->exact);
    if (first >= part->exact_to) {
        exact_sum_init(part->exact);
        part->exact_from = part->exact_to = first;
    }
    /* The readers are those of the compensated sum, and stay near it. */
    add_exactly(part, &part->entering, part->exact_to, last, 1);
    add_exactly(part, &part->leaving, part->exact_from, first, -1);
    part->exact_from = first;
    part->exact_to = max_int64(part->exact_to, last);
    bool certain;
    return exact_sum_result(part->exact, &certain) + 0.0;
}

static double number_sum(struct moving_part *part, int64_t first, int64_t last)
{
    const struct moving_total *total = &part->total;
    if (total->nan > 0 || (total->positive_inf > 0 && total->negative_inf > 0))
        return NAN;
    if (total->positive_inf > 0 || total->negative_inf > 0)
        return total->positive_inf > 0 ? INFINITY : -INFINITY;
    if (total->count == 0)
        return 0;
    bool uncertain = false;
    const double sum = compensated_sum_result(&total->number_sum, &uncertain);
    return uncertain ? exact_window_sum(part, first, last) : sum;
}

/* Sums of floats, or means of either. */
static void float_block(struct moving_part *part, int64_t row, int count)
{
    struct moving *moving = part->moving;
    const bool mean = moving->op->kind == AGG_MEAN;
    double *results = moving->result ? column_at(moving->result, row) : NULL;
    for (int i = 0; i < count; i++) {
        slide(part, part->first[i], part->last[i]);
        moving_set_present(moving, row + i, part->total.count > 0);
        if (!results)
            continue;
        if (moving->number)
            results[i] = number_sum(part, part->first[i], part->last[i]);
        if (mean && part->total.count == 0)
            results[i] = 0;
        else if (mean)
            results[i] = moving->number ? results[i] / (double)part->total.count + 0.0
                                        : int128_quotient(part->total.sum, part->total.count);
    }
}

static void fail(struct moving *moving, int64_t row)
{
    moving->flagged = true;
    if (moving->failed)
        moving->failed[row] = 1;
}

static void integer_sum_block(struct moving_part *part, int64_t row, int count)
{
    struct moving *moving = part->moving;
    int64_t results[OPERATOR_BLOCK];
    for (int i = 0; i < count; i++) {
        slide(part, part->first[i], part->last[i]);
        results[i] = (int64_t)part->total.sum;
        if (part->total.sum < INT64_MIN || part->total.sum > INT64_MAX)
            fail(moving, row + i);
    }
    if (moving->result)
        operator_write_ints(moving->result, row, results, count);
}

static void count_block(struct moving_part *part, int64_t row, int count)
{
    struct moving *moving = part->moving;
    int64_t results[OPERATOR_BLOCK];
    for (int i = 0; i < count; i++) {
        if (moving->present)
            slide(part, part->first[i], part->last[i]);
        results[i] = moving->present ? part->total.count : part->last[i] - part->first[i];
    }
    if (moving->result)
        operator_write_ints(moving->result, row, results, count);
}

/* ---- extremes ---- */

/* Whether `a` beats `b`, which came before or after it; of equals either does. */
static inline bool beats(const struct moving *moving, const struct contender *a, const struct contender *b)
{
    const bool least = moving->op->kind == AGG_MIN;
    if (moving->number)
        return least ? a->value.number <= b->value.number : a->value.number >= b->value.number;
    return least ? a->value.integer <= b->value.integer : a->value.integer >= b->value.integer;
}

static inline struct contender *contender_at(const struct moving_part *part, int64_t place)
{
    return &part->contenders[(part->contender_first + place) & (part->contender_capacity - 1)];
}

/* Makes room in the ring, whose capacity is a power of two. */
static void reserve_contender(struct moving_part *part)
{
    enum { FIRST_CAPACITY = 64 };
    const int64_t capacity = part->contender_capacity;
    if (part->contender_count < capacity)
        return;
    struct contender *larger = heap_array((size_t)(capacity ? 2 * capacity : FIRST_CAPACITY), sizeof *larger);
    for (int64_t i = 0; i < part->contender_count; i++)
        larger[i] = *contender_at(part, i);
    free(part->contenders);
    part->contenders = larger;
    part->contender_first = 0;
    part->contender_capacity = capacity ? 2 * capacity : FIRST_CAPACITY;
}

/* A row enters: what it beats can no longer become the extreme. */
static inline void contend(struct moving_part *part, int64_t row)
{
    const struct moving *moving = part->moving;
    struct contender new = {.row = row};
    if (moving->number) {
        new.value.number = element_number(&part->entering, row);
        if (isnan(new.value.number)) {
            part->total.nan++;
            return;
        }
    } else {
        new.value.integer = element_integer(&part->entering, row);
    }
    while (part->contender_count > 0 && beats(moving, &new, contender_at(part, part->contender_count - 1)))
        part->contender_count--;
    reserve_contender(part);
    *contender_at(part, part->contender_count++) = new;
}

/* Moves the window, with the contenders of its rows in order, the extreme first. */
static void slide_contenders(struct moving_part *part, int64_t first, int64_t last)
{
    const struct moving *moving = part->moving;
    if (first >= part->to) {
        part->contender_count = 0;
        part->total.nan = 0;
        part->from = part->to = first;
    }
    for (; part->to < last; part->to++) {
        if (is_present(moving, part->to))
            contend(part, part->to);
    }
    for (; moving->number && part->from < first; part->from++)
        part->total.nan -= is_present(moving, part->from) && isnan(element_number(&part->leaving, part->from));
    part->from = first;
    while (part->contender_count > 0 && contender_at(part, 0)->row < first) {
        part->contender_first++;
        part->contender_count--;
    }
}

struct extreme {
    bool present;
    int64_t integer;
    double number;
};

static struct extreme extreme_of_total(const struct moving_total *total)
{
    const bool present = total->count > 0;
    return (struct extreme){present, present ? total->integer : 0, present ? total->number : 0};
}

static struct extreme extreme_of_contenders(const struct moving_part *part)
{
    struct extreme extreme = {.present = part->contender_count > 0 || part->total.nan > 0};
    if (part->contender_count == 0) {
        extreme.number = part->total.nan > 0 ? NAN : 0;
        return extreme;
    }
    const struct contender *best = contender_at(part, 0);
    if (part->moving->number)
        extreme.number = best->value.number;
    else
        extreme.integer = best->value.integer;
    return extreme;
}

static void write_extremes(struct moving *moving, int64_t row, const struct extreme *extremes, int count)
{
    int64_t integers[OPERATOR_BLOCK];
    double *numbers = moving->number && moving->result ? column_at(moving->result, row) : NULL;
    for (int i = 0; i < count; i++) {
        moving_set_present(moving, row + i, extremes[i].present);
        integers[i] = extremes[i].integer;
        if (numbers)
            numbers[i] = extremes[i].number + 0.0;
    }
    if (moving->result && !moving->number)
        operator_write_ints(moving->result, row, integers, count);
}

static void extreme_block(struct moving_part *part, int64_t row, int count)
{
    struct moving *moving = part->moving;
    struct extreme extremes[OPERATOR_BLOCK];
    for (int i = 0; i < count; i++) {
        if (moving->op->from_first) {
            if (part->first[i] >= part->to || part->first[i] != part->from) {
                moving_total_init(moving, &part->total);
                part->from = part->to = part->first[i];
            }
            if (part->last[i] > part->to) {
                add_rows(part, part->to, part->last[i]);
                part->to = part->last[i];
            }
            extremes[i] = extreme_of_total(&part->total);
        } else {
            slide_contenders(part, part->first[i], part->last[i]);
            extremes[i] = extreme_of_contenders(part);
        }
    }
    write_extremes(moving, row, extremes, count);
}

void moving_backwards(struct moving_part *part, const int64_t *first, const int64_t *last)
{
    struct moving *moving = part->moving;
    struct extreme extremes[OPERATOR_BLOCK];
    for (int64_t end = part->end; end > part->begin && !workers_cancelled(moving->workers);) {
        const int64_t row = max_int64(part->begin, end - OPERATOR_BLOCK);
        for (int64_t i = end - 1; i >= row; i--) {
            int64_t from = first[i - part->begin], to = last[i - part->begin];
            if (to != part->to || from > part->from) {
                moving_total_init(moving, &part->total);
                part->from = part->to = to;
            }
            if (from < part->from) {
                add_rows(part, from, part->from);
                part->from = from;
            }
            extremes[i - row] = extreme_of_total(&part->total);
        }
        write_extremes(moving, row, extremes, (int)(end - row));
        end = row;
    }
}

void moving_block(struct moving_part *part, int64_t row, int count)
{
    const enum aggregate_kind kind = part->moving->op->kind;
    if (kind == AGG_COUNT)
        count_block(part, row, count);
    else if (part->order)
        moving_order_block(part, row, count);
    else if (part->moments)
        moving_moments_block(part, row, count);
    else if (aggregate_table[kind].extreme)
        extreme_block(part, row, count);
    else if (!aggregate_table[kind].sums)
        moving_nearest_block(part, row, count);
    else if (kind == AGG_MEAN || part->moving->number)
        float_block(part, row, count);
    else
        integer_sum_block(part, row, count);
}
