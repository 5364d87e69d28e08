/* Variances and correlations of windows: rows enter sums of values and of their products, and leave them.
 *
 * Of integers the sums are exact; they are of what the values differ from the first one, as long as that is small, and
 * wide from where it is not. Of floats they are compensated sums with an error bound. Where that, or the arithmetic on
 * two doubles that follows, leaves two possible results, exact sums of the window decide, which also move with it. So
 * results have the bits that groups of the same rows have. */
#include "engine/moving/moving.h"

#include "engine/grouping/group_moments.h"
#include "engine/values/moments.h"
#include "engine/values/scalar.h"

#include "base/heap.h"

#include <math.h>
#include <stdlib.h>

enum { NARROW = INT32_MAX };

/* Exact sums of floats, for the rows exact_from..exact_to-1. */
struct exact_moments {
    struct exact_sum x, y, xx, yy, xy;
};

/* Values of both columns, in blocks; of floats also their products, in two parts each. */
struct pair_reader {
    struct element_reader x, y;
    struct products xx, yy, xy;
};

struct moving_moments {
    bool pairs, wide;
    bool has_pivots;
    struct pivots pivots;
    int64_t from, to; /* the window's rows */
    struct int_moments narrow_sums;
    struct wide_sums wide_sums;
    struct float_moments float_sums;
    int64_t terms; /* of the latter */
    struct pair_reader entering, leaving;
    struct exact_moments *exact; /* NULL: was not needed */
    int64_t exact_from, exact_to;
};

struct moving_moments *moving_moments_new(const struct moving *moving)
{
    struct moving_moments *moments = heap_array(1, sizeof *moments);
    moments->pairs = moving->others;
    moments->from = moments->to = moments->exact_from = moments->exact_to = -1;
    moments->entering.x.column = moments->leaving.x.column = moving->values;
    moments->entering.y.column = moments->leaving.y.column = moving->others;
    return moments;
}

void moving_moments_free(struct moving_moments *moments)
{
    if (!moments)
        return;
    free(moments->exact);
    free(moments);
}

/* ---- integers ---- */

static inline bool is_narrow(int64_t v, int64_t pivot)
{
    int64_t difference;
    return !__builtin_sub_overflow(v, pivot, &difference) && difference >= -NARROW && difference <= NARROW;
}

static inline void change_narrow(struct moving_moments *moments, int64_t x, int64_t y, int sign)
{
    struct int_moments *sums = &moments->narrow_sums;
    x -= moments->pivots.x;
    sums->count += sign;
    sums->x += sign * x;
    sums->xx += sign * x * x;
    if (!moments->pairs)
        return;
    y -= moments->pivots.y;
    sums->y += sign * y;
    sums->yy += sign * y * y;
    sums->xy += sign * x * y;
}

static void change_wide(struct moving_moments *moments, int64_t x, int64_t y, int sign)
{
    struct wide_sums *sums = &moments->wide_sums;
    sums->count += sign;
    sums->x += sign * (int128)x;
    wide_sum_add(&sums->xx, sign * ((int128)x * x));
    if (!moments->pairs)
        return;
    sums->y += sign * (int128)y;
    wide_sum_add(&sums->yy, sign * ((int128)y * y));
    wide_sum_add(&sums->xy, sign * ((int128)x * y));
}

static void change_integers(const struct moving *moving, struct moving_moments *moments, struct pair_reader *reader,
                            int64_t row, int sign)
{
    if (!is_present(moving, row))
        return;
    const int64_t x = element_integer(&reader->x, row), y = moments->pairs ? element_integer(&reader->y, row) : 0;
    if (!moments->wide && !moments->has_pivots) {
        moments->pivots = (struct pivots){x, y};
        moments->has_pivots = true;
    }
    if (!moments->wide && is_narrow(x, moments->pivots.x) && is_narrow(y, moments->pivots.y)) {
        change_narrow(moments, x, y, sign);
        return;
    }
    if (!moments->wide) { /* the rows before this one move over, and stay there */
        moments->wide = true;
        moments->wide_sums = (struct wide_sums){.count = 0};
        for (int64_t before = moments->from; before < row; before++)
            change_integers(moving, moments, &moments->leaving, before, 1);
    }
    change_wide(moments, x, y, sign);
}

/* The variance of integers, divided once. */
static double narrow_variance(const struct int_moments *sums, int scale)
{
    const int64_t count = sums->count;
    int64_t divisor = count * (count - 1);
    bool fits = count <= INT32_MAX;
    for (int digit = 0; digit < scale && fits; digit++)
        fits = !__builtin_mul_overflow(divisor, INT64_C(100), &divisor);
    if (!fits)
        return int_moments_result(sums, false, scale);
    const int128 moment = count * sums->xx - (int128)sums->x * sums->x;
    if (moment <= INT64_C(1) << DBL_MANT_DIG && divisor <= INT64_C(1) << DBL_MANT_DIG)
        return (double)(int64_t)moment / (double)divisor;
    return int128_quotient(moment, divisor);
}

static double integer_result(const struct moving_moments *moments, int scale)
{
    if (moments->wide)
        return moments->pairs ? wide_correlation(&moments->wide_sums) : wide_variance(&moments->wide_sums, scale);
    if (moments->pairs)
        return int_moments_result(&moments->narrow_sums, true, scale);
    return narrow_variance(&moments->narrow_sums, scale);
}

/* ---- floats ---- */

/* Fills the blocks that hold the row. */
static void read_pairs(struct pair_reader *reader, bool pairs, int64_t row)
{
    element_reader_fill(&reader->x, row);
    const double *x = reader->x.block.numbers, *y = reader->y.block.numbers;
    moment_products(x, x, reader->x.count, reader->xx.high, reader->xx.low);
    if (!pairs)
        return;
    element_reader_fill(&reader->y, row);
    moment_products(y, y, reader->x.count, reader->yy.high, reader->yy.low);
    moment_products(x, y, reader->x.count, reader->xy.high, reader->xy.low);
}

/* The row's place in the blocks. */
static inline int64_t place_of(struct pair_reader *reader, bool pairs, int64_t row)
{
    if ((uint64_t)(row - reader->x.begin) >= (uint64_t)reader->x.count)
        read_pairs(reader, pairs, row);
    return row - reader->x.begin;
}

static inline bool is_finite(const struct pair_reader *reader, bool pairs, int64_t i)
{
    return isfinite(reader->xx.low[i]) && (!pairs || (isfinite(reader->yy.low[i]) && isfinite(reader->xy.low[i])));
}

static void change_floats(const struct moving *moving, struct moving_moments *moments, struct pair_reader *reader,
                          int64_t row, int sign)
{
    struct float_moments *sums = &moments->float_sums;
    const bool pairs = moments->pairs;
    if (!is_present(moving, row))
        return;
    const int64_t i = place_of(reader, pairs, row);
    sums->count += sign;
    if (!is_finite(reader, pairs, i)) {
        sums->broken += sign;
        return;
    }
    moments->terms += 2;
    add_term(&sums->x, sign * reader->x.block.numbers[i]);
    add_product(&sums->xx, &reader->xx, i, sign);
    if (!pairs)
        return;
    add_term(&sums->y, sign * reader->y.block.numbers[i]);
    add_product(&sums->yy, &reader->yy, i, sign);
    add_product(&sums->xy, &reader->xy, i, sign);
}

static void add_exact_product(struct exact_sum *sum, const struct products *products, int64_t i, int sign)
{
    exact_sum_add(sum, sign * products->high[i]);
    exact_sum_add(sum, sign * products->low[i]);
}

static void change_exactly(const struct moving *moving, struct moving_moments *moments, struct pair_reader *reader,
                           int64_t row, int sign)
{
    struct exact_moments *exact = moments->exact;
    if (!is_present(moving, row))
        return;
    const int64_t i = place_of(reader, moments->pairs, row);
    if (!is_finite(reader, moments->pairs, i))
        return;
    exact_sum_add(&exact->x, sign * reader->x.block.numbers[i]);
    add_exact_product(&exact->xx, &reader->xx, i, sign);
    if (!moments->pairs)
        return;
    exact_sum_add(&exact->y, sign * reader->y.block.numbers[i]);
    add_exact_product(&exact->yy, &reader->yy, i, sign);
    add_exact_product(&exact->xy, &reader->xy, i, sign);
}

/* The exact sums follow the window when they are asked for. */
static void slide_exactly(const struct moving *moving, struct moving_moments *moments)
{
    const int64_t first = moments->from, last = moments->to;
    if (!moments->exact)
        moments->exact = heap_array(1, sizeof *moments->exact);
    if (first >= moments->exact_to) {
        struct exact_moments *exact = moments->exact;
        struct exact_sum *const all[] = {&exact->x, &exact->y, &exact->xx, &exact->yy, &exact->xy};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++)
            exact_sum_init(all[k]);
        moments->exact_from = moments->exact_to = first;
    }
    for (; moments->exact_to < last; moments->exact_to++)
        change_exactly(moving, moments, &moments->entering, moments->exact_to, 1);
    for (; moments->exact_from < first; moments->exact_from++)
        change_exactly(moving, moments, &moments->leaving, moments->exact_from, -1);
}

/* a * b = *high + *low */
static inline void multiply(double a, double b, double *high, double *low)
{
    *high = a * b;
    *low = __builtin_fma(a, b, -*high);
}

/* count * xy - x * y, or *certain is false: the leading products with their errors, the others rounded, and a bound for
 * what is lost. */
static double quick_moment(int64_t count, int64_t terms, const struct moment_state *xy, const struct moment_state *x,
                           const struct moment_state *y, bool *certain)
{
    const double n = (double)count, unit = 0x1p-52, sums = (double)terms;
    double first, first_low, second, second_low;
    multiply(n, xy->high, &first, &first_low);
    multiply(x->high, y->high, &second, &second_low);
    double leading = first;
    const double lost = compensated_sum_two_sum(&leading, -second);
    const double others[] = {n * xy->low,         n * xy->rest,         -(x->high * y->low),  -(x->low * y->high),
                             -(x->low * y->low),  -(x->high * y->rest), -(x->rest * y->high), -(x->low * y->rest),
                             -(x->rest * y->low), -(x->rest * y->rest)};
    double rest = lost + (first_low - second_low), size = fabs(lost) + fabs(first_low) + fabs(second_low);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        rest += others[i];
        size += fabs(others[i]);
    }
    const double left_out = sums * unit *
                            (n * xy->weight + 2 * (fabs(x->high) + fabs(x->low)) * y->weight +
                             2 * (fabs(y->high) + fabs(y->low)) * x->weight);
    const double error = size * 0x1p-46 + 4 * left_out;
    const double least = leading + (rest - error), most = leading + (rest + error);
    const bool subnormal = (first != 0 && fabs(first) < 0x1p-900) || (second != 0 && fabs(second) < 0x1p-900);
    if (!(least == most) || subnormal)
        *certain = false;
    return least + 0.0;
}

static double float_result(const struct moving *moving, struct moving_moments *moments)
{
    const struct float_moments *sums = &moments->float_sums;
    const int64_t count = sums->count, terms = moments->terms;
    if (sums->broken > 0)
        return NAN;
    bool certain = true;
    double xy = 0, yy = 0, xx = quick_moment(count, terms, &sums->xx, &sums->x, &sums->x, &certain);
    if (moments->pairs) {
        yy = quick_moment(count, terms, &sums->yy, &sums->y, &sums->y, &certain);
        xy = quick_moment(count, terms, &sums->xy, &sums->x, &sums->y, &certain);
    }
    if (!certain) {
        slide_exactly(moving, moments);
        const struct exact_moments *exact = moments->exact;
        xx = moment_of_exact(count, &exact->xx, &exact->x, &exact->x);
        if (moments->pairs) {
            yy = moment_of_exact(count, &exact->yy, &exact->y, &exact->y);
            xy = moment_of_exact(count, &exact->xy, &exact->x, &exact->y);
        }
    }
    return moments->pairs ? correlation_of(xx, xy, yy) : variance_of(count, xx);
}

/* ---- windows ---- */

static inline void change(const struct moving *moving, struct moving_moments *moments, int64_t row, int sign)
{
    struct pair_reader *reader = sign > 0 ? &moments->entering : &moments->leaving;
    if (moving->number)
        change_floats(moving, moments, reader, row, sign);
    else
        change_integers(moving, moments, reader, row, sign);
}

static void slide(const struct moving *moving, struct moving_moments *moments, int64_t first, int64_t last)
{
    if (first >= moments->to) {
        moments->narrow_sums = (struct int_moments){.count = 0};
        moments->wide_sums = (struct wide_sums){.count = 0};
        moments->float_sums = (struct float_moments){.count = 0};
        moments->wide = moments->has_pivots = false;
        moments->terms = 0;
        moments->from = moments->to = first;
    }
    for (; moments->to < last; moments->to++)
        change(moving, moments, moments->to, 1);
    for (; moments->from < first; moments->from++)
        change(moving, moments, moments->from, -1);
}

static int64_t count_of(const struct moving *moving, const struct moving_moments *moments)
{
    if (moving->number)
        return moments->float_sums.count;
    return moments->wide ? moments->wide_sums.count : moments->narrow_sums.count;
}

void moving_moments_block(struct moving_part *part, int64_t row, int count)
{
    struct moving *moving = part->moving;
    struct moving_moments *moments = part->moments;
    double *results = moving->result ? column_at(moving->result, row) : NULL;
    for (int i = 0; i < count; i++) {
        slide(moving, moments, part->first[i], part->last[i]);
        const bool enough = count_of(moving, moments) > 1;
        moving_set_present(moving, row + i, enough);
        if (!results)
            continue;
        results[i] = 0;
        if (enough)
            results[i] = moving->number ? float_result(moving, moments) : integer_result(moments, moving->op->scale);
    }
}
