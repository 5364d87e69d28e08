#include "engine/grouping/group_moments.h"

#include "base/cpu_dispatch.h"
#include "engine/values/moments.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

size_t float_moments_size(bool pairs)
{
    return pairs ? sizeof(struct float_moments) : offsetof(struct float_moments, y);
}

enum { LANES = 8, LEAST_ROWS = 64 }; /* of which lanes pay */

CPU_CLONES bool is_one_place(const uint32_t *places, int count)
{
    uint32_t differ = 0;
    for (int i = 0; i < count; i++)
        differ |= places[i] ^ places[0];
    return count >= LEAST_ROWS && differ == 0;
}

/* Rows of one group: squares are summed in two halves, which do not overflow. */
CPU_CLONES static void int_moments_add_block(struct int_moments *state, int64_t pivot, const int64_t *x,
                                             const int64_t *where, int count)
{
    int64_t rows = 0, sum = 0;
    uint64_t low = 0, high = 0;
    for (int i = 0; i < count; i++) {
        const bool taken = !where || where[i];
        const int64_t a = taken ? x[i] - pivot : 0;
        const uint64_t square = (uint64_t)(a * a);
        rows += taken;
        sum += a;
        low += square & UINT32_MAX;
        high += square >> 32;
    }
    state->count += rows;
    state->x += sum;
    state->xx += ((int128)high << 32) + (int128)low;
}

void int_moments_add(struct int_moments *states, struct pivots pivots, const uint32_t *places, const int64_t *x,
                     const int64_t *y, const int64_t *where, int count)
{
    if (!y && is_one_place(places, count)) {
        int_moments_add_block(&states[places[0]], pivots.x, x, where, count);
        return;
    }
    for (int i = 0; i < count; i++) {
        struct int_moments *state = &states[places[i]];
        if (where && !where[i])
            continue;
        const int64_t a = x[i] - pivots.x;
        state->count++;
        state->x += a;
        state->xx += a * a;
        if (!y)
            continue;
        const int64_t b = y[i] - pivots.y;
        state->y += b;
        state->yy += b * b;
        state->xy += a * b;
    }
}

void wide_moments_add(struct wide_sums *states, const uint32_t *places, const int64_t *x, const int64_t *y,
                      const int64_t *where, int count)
{
    for (int i = 0; i < count; i++) {
        if (where && !where[i])
            continue;
        if (y)
            wide_sums_add_pair(&states[places[i]], x[i], y[i]);
        else
            wide_sums_add(&states[places[i]], x[i]);
    }
}

typedef double doubles __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t integers __attribute__((vector_size(LANES * sizeof(int64_t))));

/* Sums of terms i, i + LANES, ... in lane i. */
struct lanes {
    doubles high, low, rest, weight;
};

#define INLINED static inline __attribute__((always_inline))

INLINED void two_sum(doubles *a, doubles *b)
{
    const doubles sum = *a + *b, part = sum - *a;
    *b = (*a - (sum - part)) + (*b - part);
    *a = sum;
}

/* Adds terms, or errors of terms, which are small, to the second sum alone. */
INLINED void lanes_add_error(struct lanes *lanes, doubles *error)
{
    two_sum(&lanes->low, error);
    lanes->rest += *error;
    lanes->weight += (doubles)((integers)*error & INT64_MAX);
}

INLINED void lanes_add(struct lanes *lanes, doubles *term)
{
    two_sum(&lanes->high, term);
    lanes_add_error(lanes, term);
}

static void merge_lanes(struct moment_state *into, const struct lanes *lanes)
{
    for (int i = 0; i < LANES; i++) {
        add_term(into, lanes->high[i]);
        const double lost = compensated_sum_two_sum(&into->low, lanes->low[i]);
        into->rest += lost + lanes->rest[i];
        into->weight += fabs(lost) + lanes->weight[i];
    }
}

/* Adds values, 0 where `where` is, and their squares. False: one is not finite, and the sums mean nothing. */
CPU_CLONES static bool lanes_add_squares(struct lanes *x, struct lanes *xx, const double *values, const int64_t *where,
                                         int count)
{
    double taken[OPERATOR_BLOCK];
    struct products products;
    struct lanes sums = {{0}, {0}, {0}, {0}}, squares = sums;
    doubles check = {0};
    for (int i = 0; where && i < count; i++)
        taken[i] = where[i] ? values[i] : 0;
    values = where ? taken : values;
    for (int i = 0; i < count; i++) {
        products.high[i] = values[i] * values[i];
        products.low[i] = __builtin_fma(values[i], values[i], -products.high[i]);
    }
    for (int at = 0; at < count; at += LANES) {
        doubles a, square, error;
        memcpy(&a, values + at, sizeof a);
        memcpy(&square, products.high + at, sizeof square);
        memcpy(&error, products.low + at, sizeof error);
        check += error * 0; /* NaN where it is not finite */
        lanes_add(&sums, &a);
        lanes_add(&squares, &square);
        lanes_add_error(&squares, &error);
    }
    *x = sums;
    *xx = squares;
    bool finite = true;
    for (int i = 0; i < LANES; i++)
        finite = finite && check[i] == 0;
    return finite;
}

/* Rows of one group, a multiple of LANES. False: nothing has been added. */
static bool float_moments_add_block(struct float_moments *state, const double *x, const int64_t *where, int count)
{
    struct lanes sums, squares;
    int64_t rows = count;
    if (!lanes_add_squares(&sums, &squares, x, where, count))
        return false;
    for (int i = 0; where && i < count; i++)
        rows -= !where[i];
    state->count += rows;
    merge_lanes(&state->x, &sums);
    merge_lanes(&state->xx, &squares);
    return true;
}

void float_moments_add(void *states, const uint32_t *places, const double *x, const double *y, const int64_t *where,
                       int count)
{
    const size_t size = float_moments_size(y);
    struct products xx, yy, xy;
    if (!y && is_one_place(places, count)) {
        const int whole = count - count % LANES;
        if (float_moments_add_block((struct float_moments *)((char *)states + places[0] * size), x, where, whole)) {
            places += whole;
            x += whole;
            where = where ? where + whole : NULL;
            count -= whole;
        }
    }
    moment_products(x, x, count, xx.high, xx.low);
    if (y) {
        moment_products(y, y, count, yy.high, yy.low);
        moment_products(x, y, count, xy.high, xy.low);
    }
    for (int i = 0; i < count; i++) {
        struct float_moments *state = (struct float_moments *)((char *)states + places[i] * size);
        if (where && !where[i])
            continue;
        state->count++;
        const bool finite = isfinite(xx.low[i]) && (!y || (isfinite(yy.low[i]) && isfinite(xy.low[i])));
        if (!finite) {
            state->broken++;
            continue;
        }
        add_term(&state->x, x[i]);
        add_product(&state->xx, &xx, i, 1);
        if (!y)
            continue;
        add_term(&state->y, y[i]);
        add_product(&state->yy, &yy, i, 1);
        add_product(&state->xy, &xy, i, 1);
    }
}

void int_moments_merge(struct int_moments *into, const struct int_moments *from)
{
    into->count += from->count;
    into->x += from->x;
    into->y += from->y;
    into->xx += from->xx;
    into->yy += from->yy;
    into->xy += from->xy;
}

void wide_moments_merge(struct wide_sums *into, const struct wide_sums *from)
{
    into->count += from->count;
    into->x += from->x;
    into->y += from->y;
    wide_sum_merge(&into->xx, &from->xx);
    wide_sum_merge(&into->yy, &from->yy);
    wide_sum_merge(&into->xy, &from->xy);
}

static void merge_state(struct moment_state *into, const struct moment_state *from)
{
    add_term(into, from->high);
    add_term(into, from->low);
    add_term(into, from->rest);
    into->weight += from->weight;
}

void float_moments_merge(struct float_moments *into, const struct float_moments *from, bool pairs)
{
    into->count += from->count;
    into->broken += from->broken;
    merge_state(&into->x, &from->x);
    merge_state(&into->xx, &from->xx);
    if (!pairs)
        return;
    merge_state(&into->y, &from->y);
    merge_state(&into->yy, &from->yy);
    merge_state(&into->xy, &from->xy);
}

double int_moments_result(const struct int_moments *moments, bool pairs, int scale)
{
    struct wide_sums sums = {.count = moments->count, .x = moments->x, .y = moments->y};
    wide_sum_add(&sums.xx, moments->xx);
    wide_sum_add(&sums.yy, moments->yy);
    wide_sum_add(&sums.xy, moments->xy);
    return pairs ? wide_correlation(&sums) : wide_variance(&sums, scale);
}

static struct moment_sum parts_of(const struct moment_state *state)
{
    return (struct moment_sum){.part = {state->high, state->low, state->rest}, .count = 3};
}

/* What the parts of a sum of `terms` leave out, as in compensated_sum_round. */
static double error_of(const struct moment_state *state, double terms)
{
    return terms * state->weight * 0x1p-52;
}

static double moment_of(int64_t count, const struct moment_state *xy, const struct moment_state *x,
                        const struct moment_state *y, bool *uncertain)
{
    /* A product is two terms, a merged state three, and there are no more of those than rows. */
    const double terms = 5 * (double)count;
    const struct moment_sum both = parts_of(xy), first = parts_of(x), second = parts_of(y);
    const double bound = (double)count * error_of(xy, terms) +
                         2 * (fabs(x->high) * error_of(y, terms) + fabs(y->high) * error_of(x, terms));
    bool certain = true;
    const double moment = moment_of_floats(count, &both, &first, &second, 2 * bound, &certain);
    if (!certain || !(bound <= DBL_MAX))
        *uncertain = true;
    return moment;
}

double float_moments_result(const struct float_moments *moments, bool pairs, bool *uncertain)
{
    const int64_t count = moments->count;
    if (count < 2)
        return 0;
    if (moments->broken > 0)
        return NAN;
    const double xx = moment_of(count, &moments->xx, &moments->x, &moments->x, uncertain);
    if (!pairs)
        return variance_of(count, xx);
    return correlation_of(xx, moment_of(count, &moments->xy, &moments->x, &moments->y, uncertain),
                          moment_of(count, &moments->yy, &moments->y, &moments->y, uncertain));
}
