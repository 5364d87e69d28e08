#include "engine/operators/group_states.h"

#include "engine/operators/elements.h"
#include "engine/values/compensated_sum.h"

#include <math.h>
#include <string.h>

/* Whether the sum of so many of the column's elements fits 64 bits whatever they are. */
static bool sum_fits(const struct column *column, int64_t rows)
{
    int128 lo = type_table[column->store].lo, hi = type_table[column->store].hi;
    if (column->range_known) {
        lo = column->lo;
        hi = column->hi;
    }
    return lo * rows >= INT64_MIN && hi * rows <= INT64_MAX;
}

bool tally_for(enum aggregate_kind kind, const struct column *column, int64_t rows, struct tally *tally)
{
    bool number = column && type_table[column->store].kind == KIND_FLOAT;
    tally->column = kind == AGG_COUNT ? NULL : column;
    switch (kind) {
    case AGG_COUNT:
        tally->kind = TALLY_COUNT;
        return true;
    case AGG_SUM:
    case AGG_MEAN:
        tally->kind = number ? TALLY_FLOAT_SUM : sum_fits(column, rows) ? TALLY_SUM : TALLY_WIDE_SUM;
        return true;
    case AGG_MIN:
        tally->kind = number ? TALLY_FLOAT_MIN : TALLY_MIN;
        return true;
    case AGG_MAX:
        tally->kind = number ? TALLY_FLOAT_MAX : TALLY_MAX;
        return true;
    default:
        return false;
    }
}

size_t tally_size(const struct tally *tally)
{
    switch (tally->kind) {
    case TALLY_WIDE_SUM:
        return sizeof(int128);
    case TALLY_FLOAT_SUM:
        return sizeof(struct cascade);
    default:
        return sizeof(int64_t);
    }
}

void tally_clear(const struct tally *tally, void *cells, int64_t begin, int64_t count)
{
    switch (tally->kind) {
    case TALLY_FIRST:
    case TALLY_MIN:
        for (int64_t i = begin; i < begin + count; i++)
            ((int64_t *)cells)[i] = INT64_MAX;
        break;
    case TALLY_MAX:
        for (int64_t i = begin; i < begin + count; i++)
            ((int64_t *)cells)[i] = INT64_MIN;
        break;
    case TALLY_FLOAT_MIN:
    case TALLY_FLOAT_MAX:
        for (int64_t i = begin; i < begin + count; i++)
            ((double *)cells)[i] = NAN;
        break;
    default:
        memset((char *)cells + (size_t)begin * tally_size(tally), 0, (size_t)count * tally_size(tally));
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

void tally_add(const struct tally *tally, void *cells, const uint32_t *places, const void *values, int count)
{
    int64_t *integers = cells;
    double *numbers = cells;
    const int64_t *in = values;
    const double *floats = values;
    switch (tally->kind) {
    case TALLY_COUNT:
        for (int i = 0; i < count; i++)
            integers[places[i]]++;
        break;
    case TALLY_SUM:
        for (int i = 0; i < count; i++)
            integers[places[i]] += in[i];
        break;
    case TALLY_WIDE_SUM:
        for (int i = 0; i < count; i++)
            ((int128 *)cells)[places[i]] += in[i];
        break;
    case TALLY_FLOAT_SUM:
        for (int i = 0; i < count; i++)
            cascade_add(&((struct cascade *)cells)[places[i]], floats[i]);
        break;
    case TALLY_FIRST:
    case TALLY_MIN:
        for (int i = 0; i < count; i++)
            integers[places[i]] = in[i] < integers[places[i]] ? in[i] : integers[places[i]];
        break;
    case TALLY_MAX:
        for (int i = 0; i < count; i++)
            integers[places[i]] = in[i] > integers[places[i]] ? in[i] : integers[places[i]];
        break;
    case TALLY_FLOAT_MIN:
        for (int i = 0; i < count; i++)
            numbers[places[i]] = lesser(numbers[places[i]], floats[i]);
        break;
    case TALLY_FLOAT_MAX:
        for (int i = 0; i < count; i++)
            numbers[places[i]] = greater(numbers[places[i]], floats[i]);
        break;
    }
}

void tally_merge(const struct tally *tally, void *into, int64_t place, const void *from, int64_t other)
{
    switch (tally->kind) {
    case TALLY_COUNT:
        ((int64_t *)into)[place] += ((const int64_t *)from)[other];
        break;
    case TALLY_WIDE_SUM:
        ((int128 *)into)[place] += ((const int128 *)from)[other];
        break;
    case TALLY_FLOAT_SUM:
        cascade_merge(&((struct cascade *)into)[place], &((const struct cascade *)from)[other]);
        break;
    default: {
        /* The rest are added as a value is. */
        const uint32_t first = 0;
        tally_add(tally, (char *)into + (size_t)place * sizeof(int64_t), &first,
                  (const char *)from + (size_t)other * sizeof(int64_t), 1);
    }
    }
}

static int128 int_sum(const struct tally *tally, const void *cells, uint32_t place)
{
    return tally->kind == TALLY_WIDE_SUM ? ((const int128 *)cells)[place] : ((const int64_t *)cells)[place];
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

static bool floats_of(const struct tally *tally, const struct aggregate *aggregate, const void *cells,
                      const int64_t *counts, const uint32_t *places, int count, double *results)
{
    bool uncertain = false;
    for (int i = 0; i < count; i++) {
        uint32_t place = places[i];
        if (tally->kind == TALLY_FLOAT_SUM) {
            results[i] = cascade_result(&((const struct cascade *)cells)[place], &uncertain);
            if (aggregate->kind == AGG_MEAN)
                results[i] = results[i] / (double)counts[place] + 0.0;
        } else if (tally->kind == TALLY_FLOAT_MIN || tally->kind == TALLY_FLOAT_MAX) {
            results[i] = ((const double *)cells)[place] + 0.0;
        } else {
            results[i] = mean_of(int_sum(tally, cells, place), counts[place], aggregate);
        }
    }
    return !uncertain;
}

static bool ints_of(const struct tally *tally, const void *cells, const uint32_t *places, int count, int64_t *results)
{
    bool fits = true;
    for (int i = 0; i < count; i++) {
        int128 sum = int_sum(tally, cells, places[i]);
        fits = fits && sum >= INT64_MIN && sum <= INT64_MAX;
        results[i] = (int64_t)sum;
    }
    return fits;
}

bool tally_write(const struct tally *tally, const struct aggregate *aggregate, const void *cells, const int64_t *counts,
                 const uint32_t *places, int count, struct column *to, int64_t row)
{
    if (to->store == TYPE_F64)
        return floats_of(tally, aggregate, cells, counts, places, count, column_at(to, row));
    int64_t results[BREAK_BLOCK];
    bool fits = ints_of(tally, cells, places, count, results);
    break_write_ints(to, row, results, count);
    return fits;
}
