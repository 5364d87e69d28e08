#include "engine/grouping/group_aggregate.h"

#include "engine/plan/aggregate_join.h"
#include "engine/values/compensated_sum.h"
#include "engine/vector/elements.h"

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
    const struct aggregate_info *info = &aggregate_table[kind];
    const bool number = column && type_table[column->store].kind == KIND_FLOAT;
    *group_agg = (struct group_aggregate){.kind = info->sums ? AGG_SUM : kind, .column = column};
    if (kind == AGG_COUNT)
        group_agg->column = NULL;
    else if (info->sums)
        group_agg->form = number ? STATE_FLOAT_SUM : sum_fits(column, rows) ? STATE_INTEGER : STATE_WIDE_SUM;
    else if (kind == AGG_PRODUCT)
        group_agg->form = STATE_PRODUCT;
    else
        group_agg->form = number ? STATE_NUMBER : STATE_INTEGER;
    if (kind == AGG_COUNT || info->sums)
        return true;
    if (number)
        return kind != AGG_PRODUCT /* in the order of rows */ && info->numbers;
    return info->integers;
}

size_t group_aggregate_size(const struct group_aggregate *group_agg)
{
    switch (group_agg->form) {
    case STATE_INTEGER:
    case STATE_NUMBER:
        return sizeof(int64_t);
    case STATE_WIDE_SUM:
        return sizeof(int128);
    case STATE_FLOAT_SUM:
        return sizeof(struct compensated_sum);
    case STATE_PRODUCT:
        return sizeof(struct product_state);
    case STATE_INT_MOMENTS:
        return sizeof(struct int_moments);
    case STATE_WIDE_MOMENTS:
        return sizeof(struct wide_sums);
    case STATE_FLOAT_MOMENTS:
        return float_moments_size(group_agg->other);
    }
    return 0;
}

/* How its integers are joined. */
static enum aggregate_kind join_of(const struct group_aggregate *group_agg)
{
    return group_agg->kind == AGG_FIRST ? AGG_MIN : group_agg->kind;
}

void group_aggregate_clear(const struct group_aggregate *group_agg, void *states, int64_t begin, int64_t count)
{
    const struct aggregate_info *info = &aggregate_table[join_of(group_agg)];
    if (group_agg->form == STATE_PRODUCT) {
        for (int64_t i = begin; i < begin + count; i++)
            ((struct product_state *)states)[i] = (struct product_state){.product = 1};
    } else if (group_agg->form == STATE_NUMBER) {
        for (int64_t i = begin; i < begin + count; i++)
            ((double *)states)[i] = info->number_none;
    } else if (group_agg->form == STATE_INTEGER && info->none != 0) {
        for (int64_t i = begin; i < begin + count; i++)
            ((int64_t *)states)[i] = info->none;
    } else {
        memset((char *)states + (size_t)begin * group_aggregate_size(group_agg), 0,
               (size_t)count * group_aggregate_size(group_agg));
    }
}

static void add_integers(enum aggregate_kind kind, int64_t *states, const uint32_t *places, const int64_t *in,
                         int count)
{
    bool unread = false; /* sums are known to fit */
    (void)unread;
    if (kind == AGG_COUNT) {
        const bool one = is_one_place(places, count);
        if (one)
            states[places[0]] += count;
        for (int i = 0; !one && i < count; i++)
            states[places[i]]++;
    }
#define AGGREGATE_JOIN(join, ...)                                                                                      \
    if (kind == AGG_##join) {                                                                                          \
        for (int i = 0; i < count; i++)                                                                                \
            states[places[i]] = aggregate_join_integers(AGG_##join, states[places[i]], in[i], &unread);                \
    }
#define AGGREGATE_JOIN_CHECKED AGGREGATE_JOIN
#include "engine/plan/aggregates.def"
}

static void add_numbers(enum aggregate_kind kind, double *states, const uint32_t *places, const double *in, int count)
{
#define AGGREGATE_JOIN_NUMBERS(join, ...)                                                                              \
    if (kind == AGG_##join) {                                                                                          \
        for (int i = 0; i < count; i++)                                                                                \
            states[places[i]] = aggregate_join_numbers(AGG_##join, states[places[i]], in[i]);                          \
    }
#include "engine/plan/aggregates.def"
}

void group_aggregate_add(const struct group_aggregate *group_agg, void *states, const uint32_t *places,
                         const struct group_values *values, int count)
{
    const int64_t *in = values->values;
    const double *floats = values->values;
    switch (group_agg->form) {
    case STATE_INTEGER:
        add_integers(join_of(group_agg), states, places, in, count);
        break;
    case STATE_NUMBER:
        add_numbers(group_agg->kind, states, places, floats, count);
        break;
    case STATE_WIDE_SUM:
        for (int i = 0; i < count; i++)
            ((int128 *)states)[places[i]] += in[i];
        break;
    case STATE_FLOAT_SUM:
        for (int i = 0; i < count; i++)
            compensated_sum_add(&((struct compensated_sum *)states)[places[i]], floats[i]);
        break;
    case STATE_PRODUCT:
        for (int i = 0; i < count; i++)
            multiply(&((struct product_state *)states)[places[i]], in[i]);
        break;
    case STATE_INT_MOMENTS:
        int_moments_add(states, group_agg->pivots, places, in, values->others, values->where, count);
        break;
    case STATE_WIDE_MOMENTS:
        wide_moments_add(states, places, in, values->others, values->where, count);
        break;
    case STATE_FLOAT_MOMENTS:
        float_moments_add(states, places, floats, values->others, values->where, count);
        break;
    }
}

void group_aggregate_merge(const struct group_aggregate *group_agg, void *into, int64_t place, const void *from,
                           int64_t other)
{
    const size_t size = group_aggregate_size(group_agg);
    void *to = (char *)into + (size_t)place * size;
    const void *part = (const char *)from + (size_t)other * size;
    const struct product_state *product = part;
    bool unread = false;
    switch (group_agg->form) {
    case STATE_INTEGER:
        *(int64_t *)to = aggregate_join_integers(group_agg->kind == AGG_COUNT ? AGG_SUM : join_of(group_agg),
                                                 *(int64_t *)to, *(const int64_t *)part, &unread);
        break;
    case STATE_NUMBER:
        *(double *)to = aggregate_join_numbers(group_agg->kind, *(double *)to, *(const double *)part);
        break;
    case STATE_WIDE_SUM:
        *(int128 *)to += *(const int128 *)part;
        break;
    case STATE_FLOAT_SUM:
        compensated_sum_merge(to, part);
        break;
    case STATE_PRODUCT:
        multiply(to, product->product);
        ((struct product_state *)to)->overflowed |= product->overflowed;
        break;
    case STATE_INT_MOMENTS:
        int_moments_merge(to, part);
        break;
    case STATE_WIDE_MOMENTS:
        wide_moments_merge(to, part);
        break;
    case STATE_FLOAT_MOMENTS:
        float_moments_merge(to, part, group_agg->other);
        break;
    }
}

static int128 int_sum(const struct group_aggregate *group_agg, const void *states, uint32_t place)
{
    return group_agg->form == STATE_WIDE_SUM ? ((const int128 *)states)[place] : ((const int64_t *)states)[place];
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
        if (group_agg->form == STATE_INT_MOMENTS) {
            const struct int_moments *state = &((const struct int_moments *)states)[place];
            results[i] = int_moments_result(state, group_agg->other, aggregate->scale);
        } else if (group_agg->form == STATE_WIDE_MOMENTS) {
            const struct wide_sums *state = &((const struct wide_sums *)states)[place];
            results[i] = group_agg->other ? wide_correlation(state) : wide_variance(state, aggregate->scale);
        } else if (group_agg->form == STATE_FLOAT_MOMENTS) {
            const char *state = (const char *)states + place * group_aggregate_size(group_agg);
            results[i] = float_moments_result((const struct float_moments *)state, group_agg->other, &uncertain);
        } else if (group_agg->form == STATE_FLOAT_SUM) {
            results[i] = compensated_sum_result(&((const struct compensated_sum *)states)[place], &uncertain);
            if (aggregate->kind == AGG_MEAN)
                results[i] = results[i] / (double)counts[place] + 0.0;
        } else if (group_agg->form == STATE_NUMBER) {
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
        if (group_agg->form == STATE_PRODUCT) {
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

/* Whether the column's integers are at most 2^31 from a pivot. */
static bool is_narrow(const struct column *column, int64_t *pivot)
{
    const int64_t lo = column->range_known ? column->lo : type_table[column->store].lo;
    const int64_t hi = column->range_known ? column->hi : type_table[column->store].hi;
    const uint64_t width = (uint64_t)hi - (uint64_t)lo;
    *pivot = lo + (int64_t)(width / 2);
    return width <= UINT64_C(1) << 32;
}

static bool is_float(const struct column *column)
{
    return column && type_table[column->store].kind == KIND_FLOAT;
}

void group_moments_for(const struct column *column, const struct column *other, const struct column *where,
                       int64_t rows, struct group_aggregate *group_agg)
{
    struct pivots pivots = {0};
    enum state_form form = STATE_FLOAT_MOMENTS;
    if (!is_float(column) && !is_float(other)) {
        const bool narrow = is_narrow(column, &pivots.x) && (!other || is_narrow(other, &pivots.y));
        form = narrow && rows <= UINT32_MAX ? STATE_INT_MOMENTS : STATE_WIDE_MOMENTS;
    }
    *group_agg = (struct group_aggregate){
        .kind = AGG_VAR, .form = form, .pivots = pivots, .column = column, .other = other, .where = where};
}

struct column *group_result_reserve(const struct operator_job *job, size_t k, int64_t rows)
{
    const struct output *output = &job->task->outputs[k];
    const struct column_operator *column_op = job->task->column_op;
    if (k >= column_op->key_count)
        return column_reserve_from(job->pool, output->type, output->type, rows);
    return column_reserve_like(job->pool, job->inputs[column_op->keys[k]], output->type, rows);
}
