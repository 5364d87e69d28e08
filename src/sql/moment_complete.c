#include "sql/moment_complete.h"

#include "engine/values/moments.h"
#include "engine/values/wide_moments.h"

#include <math.h>

/* Sums of products by the places of their halves: the upper ones, the mixed ones, the lower ones. */
struct sums {
    int128 x, xx[3], y, yy[3], xy[3];
};

/* Sums of floats of all keys. */
struct float_sums {
    struct exact_sum x, y, xx, yy, xy;
    bool broken;
};

/* The next integer of the text, behind one space but at the beginning. */
static bool take_integer(struct text *text, bool first, int64_t *result)
{
    size_t at = first ? 0 : 1;
    bool good = first || (text->length > 0 && text->at[0] == ' ');
    const bool negative = good && at < text->length && text->at[at] == '-';
    int64_t number = 0;
    at += negative;
    const size_t begin = at;
    for (; good && at < text->length && text->at[at] >= '0' && text->at[at] <= '9'; at++) {
        const int digit = text->at[at] - '0';
        good = !__builtin_mul_overflow(number, 10, &number) &&
               !__builtin_add_overflow(number, negative ? -digit : digit, &number);
    }
    good = good && at > begin;
    *text = good ? (struct text){text->at + at, text->length - at} : *text;
    *result = number;
    return good;
}

static bool take_sum(struct text *text, int128 *sum)
{
    int64_t upper, rest;
    if (!take_integer(text, false, &upper) || !take_integer(text, false, &rest))
        return false;
    *sum = (int128)upper * ((int128)1 << SUM_UNIT_BITS) + rest;
    return true;
}

/* A sum, and the sums of its three products. */
static bool take_squares(struct text *text, int128 *sum, int128 *products)
{
    const bool good = take_sum(text, sum) && take_sum(text, &products[0]) && take_sum(text, &products[1]) &&
                      take_sum(text, &products[2]);
    products[1] *= 2;
    return good;
}

static bool take_sums(struct text *text, bool pairs, struct sums *sums)
{
    int128 other;
    if (!take_squares(text, &sums->x, sums->xx))
        return false;
    if (!pairs)
        return true;
    const bool good = take_squares(text, &sums->y, sums->yy) && take_sum(text, &sums->xy[0]) &&
                      take_sum(text, &sums->xy[1]) && take_sum(text, &other) && take_sum(text, &sums->xy[2]);
    sums->xy[1] += good ? other : 0;
    return good;
}

/* Adds term * 2^bits, 0 < bits < 128. */
static void wide_add_shifted(struct wide_sum *sum, int128 term, int bits)
{
    const struct wide_sum shifted = {(uint128)term << bits, (int64_t)(term >> (128 - bits))};
    wide_sum_merge(sum, &shifted);
}

static struct wide_sum wide_of(const int128 *products)
{
    struct wide_sum sum = {0, 0};
    wide_sum_add(&sum, products[2]);
    wide_add_shifted(&sum, products[1], INTEGER_HALF);
    wide_add_shifted(&sum, products[0], 2 * INTEGER_HALF);
    return sum;
}

static double moment_of_integers(const struct sql_moment *moment, int64_t count, const struct sums *sums)
{
    struct wide_sums wide = {.count = count, .x = sums->x, .y = sums->y};
    wide.xx = wide_of(sums->xx);
    wide.yy = wide_of(sums->yy);
    wide.xy = wide_of(sums->xy);
    return moment->pairs ? wide_correlation(&wide) : wide_variance(&wide, moment->scale);
}

/* Adds sum * 2^exponent. */
static void add_scaled(struct exact_sum *to, int128 sum, int exponent)
{
    const int128 unit = (int128)1 << SUM_UNIT_BITS;
    exact_sum_add_scaled(to, (int64_t)(sum / unit), exponent + SUM_UNIT_BITS);
    exact_sum_add_scaled(to, (int64_t)(sum % unit), exponent);
}

static void add_products(struct exact_sum *to, const int128 *products, int exponent)
{
    for (int i = 0; i < 3; i++)
        add_scaled(to, products[i], exponent + FLOAT_HALF * (2 - i));
}

static int unit_of(int64_t exponent)
{
    return (exponent > 0 ? (int)exponent : 1) - 1075;
}

/* Adds the sums of a key. */
static void add_floats(struct float_sums *all, bool pairs, int64_t key, const struct sums *sums)
{
    if (key < 0) {
        all->broken = true;
        return;
    }
    const int x = unit_of(pairs ? key / EXPONENTS : key), y = unit_of(key % EXPONENTS);
    add_scaled(&all->x, sums->x, x);
    add_products(&all->xx, sums->xx, 2 * x);
    if (!pairs)
        return;
    add_scaled(&all->y, sums->y, y);
    add_products(&all->yy, sums->yy, 2 * y);
    add_products(&all->xy, sums->xy, x + y);
}

static double moment_of_floats_of(const struct sql_moment *moment, int64_t count, const struct float_sums *all)
{
    if (count < 2)
        return 0;
    if (all->broken)
        return NAN;
    const double xx = moment_of_exact(count, &all->xx, &all->x, &all->x);
    if (!moment->pairs)
        return variance_of(count, xx);
    return correlation_of(xx, moment_of_exact(count, &all->xy, &all->x, &all->y),
                          moment_of_exact(count, &all->yy, &all->y, &all->y));
}

bool moment_of_text(const struct sql_moment *moment, struct text text, double *result)
{
    struct float_sums all = {.broken = false};
    struct exact_sum *const each[] = {&all.x, &all.y, &all.xx, &all.yy, &all.xy};
    struct sums sums = {.x = 0};
    int64_t count, key;
    for (size_t k = 0; k < sizeof each / sizeof *each; k++)
        exact_sum_init(each[k]);
    bool good = take_integer(&text, true, &count) && count >= 0;
    while (good && text.length > 0) {
        good =
            take_integer(&text, false, &key) && key < EXPONENTS * EXPONENTS && take_sums(&text, moment->pairs, &sums);
        if (good && moment->floats)
            add_floats(&all, moment->pairs, key, &sums);
    }
    if (!good)
        return false;
    const double value =
        moment->floats ? moment_of_floats_of(moment, count, &all) : moment_of_integers(moment, count, &sums);
    *result = moment->root ? sqrt(value) : value;
    return true;
}

enum status moment_report(const char *server, struct span span, struct diags *diags)
{
    return diag_error(diags, span, "the answer of `%s` is not what was asked for", server);
}

enum status moment_complete(const struct sql_moment *moment, struct column **column, const char *server,
                            struct span span, struct diags *diags)
{
    struct column *texts = *column, *floats = column_reserve(TYPE_F64, TYPE_F64, texts->rows);
    bool good = true;
    if (!floats)
        return diag_no_memory(diags, span, "not enough memory for the rows of `%s`", server);
    double *to = column_at(floats, 0);
    for (int64_t row = 0; row < texts->rows && good; row++) {
        to[row] = 0;
        if (!column_is_missing(texts, row))
            good = moment_of_text(moment, column_get(texts, row).text, &to[row]);
    }
    if (texts->validity)
        column_set_validity(floats, column_ref(texts->validity));
    column_finish(floats, texts->rows);
    column_unref(texts);
    *column = floats;
    return good ? STATUS_OK : moment_report(server, span, diags);
}
