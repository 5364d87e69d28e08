#include "engine/grouping/group_aggregate.h"

#include "engine/grouping/group_moments.h"
#include "engine/values/compensated_sum.h"
#include "engine/vector/elements.h"

#include <math.h>
#include <string.h>

/* A product of integers, worthless once it has overflowed. */
struct product_state {
    int64_t product, overflowed;
};

static void multiply(struct product_state *state, int64_t factor)
{
    state->overflowed |= __builtin_mul_overflow(state->product, factor, &state->product);
}

/* Whether the sum of any `rows` elements of the column fits 64 bits. */
static bool sum_fits(const struct column *column, int64_t rows)
{
    int128 lo = type_table[column->store].lo, hi = type_table[column->store].hi;
    if (column->range_known) {
        lo = column->lo;
        hi = column->hi;
    }
    return lo * rows >= INT64_MIN && hi * rows <= INT64_MAX;
}

bool group_aggregate_for(enum aggregate_kind kind, const struct column *column, int64_t rows,
                         struct group_aggregate *group_agg)
{
    const bool number = column && type_table[column->store].kind == KIND_FLOAT;
    *group_agg = (struct group_aggregate){.column = kind == AGG_COUNT ? NULL : column};
    switch (kind) {
    case AGG_COUNT:
        group_agg->kind = GROUP_COUNT;
        return true;
    case AGG_SUM:
    case AGG_MEAN:
        group_agg->kind = number ? GROUP_FLOAT_SUM : sum_fits(column, rows) ? GROUP_SUM : GROUP_WIDE_SUM;
        return true;
    case AGG_PRODUCT:
        group_agg->kind = GROUP_PRODUCT;
        return !number; /* floats are multiplied in the order of rows */
    case AGG_MIN:
        group_agg->kind = number ? GROUP_FLOAT_MIN : GROUP_MIN;
        return true;
    case AGG_MAX:
        group_agg->kind = number ? GROUP_FLOAT_MAX : GROUP_MAX;
        return true;
    default:
        return false;
    }
}

size_t group_aggregate_size(const struct group_aggregate *group_agg)
{
    switch (group_agg->kind) {
    case GROUP_WIDE_SUM:
        return sizeof(int128);
    case GROUP_FLOAT_SUM:
        return sizeof(struct compensated_sum);
    case GROUP_PRODUCT:
        return sizeof(struct product_state);
    case GROUP_INT_MOMENTS:
        return sizeof(struct int_moments);
    case GROUP_FLOAT_MOMENTS:
        return float_moments_size(group_agg->other);
    default:
        return sizeof(int64_t);
    }
}

void group_aggregate_clear(const struct group_aggregate *group_agg, void *states, int64_t begin, int64_t count)
{
    switch (group_agg->kind) {
    case GROUP_FIRST:
    case GROUP_MIN:
        for (int64_t i = begin; i < begin + count; i++)
            ((int64_t *)states)[i] = INT64_MAX;
        break;
    case GROUP_MAX:
        for (int64_t i = begin; i < begin + count; i++)
            ((int64_t *)states)[i] = INT64_MIN;
        break;
    case GROUP_PRODUCT:
        for (int64_t i = begin; i < begin + count; i++)
            ((struct product_state *)states)[i] = (struct product_state){.product = 1};
        break;
    case GROUP_FLOAT_MIN:
    case GROUP_FLOAT_MAX:
        for (int64_t i = begin; i < begin + count; i++)
            ((double *)states)[i] = NAN;
        break;
    default:
        memset((char *)states + (size_t)begin * group_aggregate_size(group_agg), 0,
               (size_t)count * group_aggregate_size(group_agg));
    }
}

static double lesser(double a, double b)
{
    return b < a || a != a ? b : a;
}

static double greater(double a, double b)
{
    return b > a || a != a ? b : a;
}

void group_aggregate_add(const struct group_aggregate *group_agg, void *states, const uint32_t *places,
                         const struct group_values *values, int count)
{
    int64_t *integers = states;
    double *numbers = states;
    const int64_t *in = values->values;
    const double *floats = values->values;
    switch (group_agg->kind) {
    case GROUP_COUNT:
        for (int i = 0; i < count; i++)
            integers[places[i]]++;
        break;
    case GROUP_SUM:
        for (int i = 0; i < count; i++)
            integers[places[i]] += in[i];
        break;
    case GROUP_WIDE_SUM:
        for (int i = 0; i < count; i++)
            ((int128 *)states)[places[i]] += in[i];
        break;
    case GROUP_FLOAT_SUM:
        for (int i = 0; i < count; i++)
            compensated_sum_add(&((struct compensated_sum *)states)[places[i]], floats[i]);
        break;
    case GROUP_PRODUCT:
        for (int i = 0; i < count; i++)
            multiply(&((struct product_state *)states)[places[i]], in[i]);
        break;
    case GROUP_FIRST:
    case GROUP_MIN:
        for (int i = 0; i < count; i++)
            integers[places[i]] = in[i] < integers[places[i]] ? in[i] : integers[places[i]];
        break;
    case GROUP_MAX:
        for (int i = 0; i < count; i++)
            integers[places[i]] = in[i] > integers[places[i]] ? in[i] : integers[places[i]];
        break;
    case GROUP_FLOAT_MIN:
        for (int i = 0; i < count; i++)
            numbers[places[i]] = lesser(numbers[places[i]], floats[i]);
        break;
    case GROUP_FLOAT_MAX:
        for (int i = 0; i < count; i++)
            numbers[places[i]] = greater(numbers[places[i]], floats[i]);
        break;
    case GROUP_INT_MOMENTS:
        int_moments_add(states, places, in, values->others, values->where, count);
        break;
    case GROUP_FLOAT_MOMENTS:
        float_moments_add(states, places, floats, values->others, values->where, count);
        break;
    }
}

void group_aggregate_merge(const struct group_aggregate *group_agg, void *into, int64_t place, const void *from,
                           int64_t other)
{
    switch (group_agg->kind) {
    case GROUP_COUNT:
        ((int64_t *)into)[place] += ((const int64_t *)from)[other];
        break;
    case GROUP_WIDE_SUM:
        ((int128 *)into)[place] += ((const int128 *)from)[other];
        break;
    case GROUP_FLOAT_SUM:
        compensated_sum_merge(&((struct compensated_sum *)into)[place], &((const struct compensated_sum *)from)[other]);
        break;
    case GROUP_PRODUCT: {
        const struct product_state *part = &((const struct product_state *)from)[other];
        multiply(&((struct product_state *)into)[place], part->product);
        ((struct product_state *)into)[place].overflowed |= part->overflowed;
        break;
    }
    case GROUP_INT_MOMENTS:
        int_moments_merge(&((struct int_moments *)into)[place], &((const struct int_moments *)from)[other]);
        break;
    case GROUP_FLOAT_MOMENTS: {
        const size_t size = group_aggregate_size(group_agg);
        float_moments_merge((struct float_moments *)((char *)into + (size_t)place * size),
                            (const struct float_moments *)((const char *)from + (size_t)other * size),
                            group_agg->other);
        break;
    }
    default: {
        /* For the others, a state is merged as a value is added. */
        const uint32_t first = 0;
        const struct group_values one = {.values = (const char *)from + (size_t)other * sizeof(int64_t)};
        group_aggregate_add(group_agg, (char *)into + (size_t)place * sizeof(int64_t), &first, &one, 1);
    }
    }
}

static int128 int_sum(const struct group_aggregate *group_agg, const void *states, uint32_t place)
{
    return group_agg->kind == GROUP_WIDE_SUM ? ((const int128 *)states)[place] : ((const int64_t *)states)[place];
}

/* An exact sum divided once. */
static double mean_of(int128 sum, int64_t count, const struct aggregate *aggregate)
{
    const int64_t exact = INT64_C(1) << DBL_MANT_DIG;
    if (sum >= -exact && sum <= exact && count <= exact)
        return (double)(int64_t)sum / (double)count + 0.0;
    struct agg_state state = {.kind = AGG_MEAN, .type = KIND_INT, .count = count, .sum = sum};
    struct scalar result = {0};
    bool certain;
    agg_value(&state, aggregate, &result, &certain);
    return result.number;
}

static bool floats_of(const struct group_aggregate *group_agg, const struct aggregate *aggregate, const void *states,
                      const int64_t *counts, const uint32_t *places, int count, double *results)
{
    bool uncertain = false;
    for (int i = 0; i < count; i++) {
        const uint32_t place = places[i];
        if (group_agg->kind == GROUP_INT_MOMENTS) {
            results[i] = int_moments_result(&((const struct int_moments *)states)[place], group_agg->other);
        } else if (group_agg->kind == GROUP_FLOAT_MOMENTS) {
            const char *state = (const char *)states + place * group_aggregate_size(group_agg);
            results[i] = float_moments_result((const struct float_moments *)state, group_agg->other, &uncertain);
        } else if (group_agg->kind == GROUP_FLOAT_SUM) {
            results[i] = compensated_sum_result(&((const struct compensated_sum *)states)[place], &uncertain);
            if (aggregate->kind == AGG_MEAN)
                results[i] = results[i] / (double)counts[place] + 0.0;
        } else if (group_agg->kind == GROUP_FLOAT_MIN || group_agg->kind == GROUP_FLOAT_MAX) {
            results[i] = ((const double *)states)[place] + 0.0;
        } else {
            results[i] = mean_of(int_sum(group_agg, states, place), counts[place], aggregate);
        }
    }
    return !uncertain;
}

static bool ints_of(const struct group_aggregate *group_agg, const void *states, const uint32_t *places, int count,
                    int64_t *results)
{
    bool fits = true;
    for (int i = 0; i < count; i++) {
        if (group_agg->kind == GROUP_PRODUCT) {
            const struct product_state *state = &((const struct product_state *)states)[places[i]];
            results[i] = state->product;
            fits = fits && !state->overflowed;
            continue;
        }
        int128 sum = int_sum(group_agg, states, places[i]);
        fits = fits && sum >= INT64_MIN && sum <= INT64_MAX;
        results[i] = (int64_t)sum;
    }
    return fits;
}

bool group_aggregate_write(const struct group_aggregate *group_agg, const struct aggregate *aggregate,
                           const void *states, const int64_t *counts, const uint32_t *places, int count,
                           struct column *to, int64_t row)
{
    if (to->store == TYPE_F64)
        return floats_of(group_agg, aggregate, states, counts, places, count, column_at(to, row));
    int64_t results[OPERATOR_BLOCK];
    const bool fits = ints_of(group_agg, states, places, count, results);
    operator_write_ints(to, row, results, count);
    return fits;
}

/* Whether sums of products of the column's integers are exact. */
static bool is_short(const struct column *column)
{
    const int64_t most = INT64_C(1) << 31;
    if (type_table[column->store].kind == KIND_FLOAT)
        return false;
    return (column->range_known && column->lo > -most && column->hi < most) ||
           type_table[column->store].size < sizeof(int32_t);
}

void group_moments_for(const struct column *column, const struct column *other, const struct column *where,
                       int64_t rows, struct group_aggregate *group_agg)
{
    const bool exact = is_short(column) && (!other || is_short(other)) && rows <= UINT32_MAX;
    *group_agg = (struct group_aggregate){
        .kind = exact ? GROUP_INT_MOMENTS : GROUP_FLOAT_MOMENTS, .column = column, .other = other, .where = where};
}
