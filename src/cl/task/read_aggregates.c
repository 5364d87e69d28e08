#include "cl/task/read_aggregates.h"

#include "engine/plan/aggregate_join.h"

#include <math.h>

static const uint64_t *results_of(const struct slots *slots, size_t k)
{
    return slots->at + k * slots->groups;
}

int64_t read_aggregate_kept(const struct slots *slots, int64_t rows)
{
    for (size_t k = 0; k < slots->accumulators->count; k++) {
        if (slots->accumulators->at[k].kind == ACC_KEPT)
            return (int64_t)slots_sum(ACC_KEPT, results_of(slots, k), slots->groups);
    }
    return rows;
}

bool read_aggregate_levels(const struct slots *first, int64_t accumulator_rows, struct float_sum_levels *levels,
                           bool *needed)
{
    for (size_t k = 0; k < first->accumulators->count; k++) {
        const struct accumulator *accumulator = &first->accumulators->at[k];
        if (accumulator->kind != ACC_LARGEST)
            continue;
        const double largest = slots_float(AGG_MAX, results_of(first, k), first->groups);
        if (largest == 0)
            continue;
        *needed = true;
        if (!float_sum_levels_choose(largest, accumulator_rows, &levels[accumulator->aggregate]))
            return false;
    }
    return true;
}

/* Groups are in row order. */
static void add_folds(struct agg_state *state, const struct slots *slots, size_t k)
{
    const uint64_t *values = results_of(slots, k), *counts = results_of(slots, k + 1);
    for (size_t group = 0; group < slots->groups; group++) {
        if (counts[group] == 0)
            continue;
        agg_add_int(state, (int64_t)values[group]);
        state->count += (int64_t)counts[group] - 1;
    }
}

static void add_results(struct agg_state *state, const struct slots *slots, size_t k)
{
    const enum accumulator_kind kind = slots->accumulators->at[k].kind;
    const uint64_t *results = results_of(slots, k);
    const size_t groups = slots->groups;
    uint64_t product;
    switch (kind) {
    case ACC_SUM32:
    case ACC_SUM64:
    case ACC_LOW:
        state->sum += slots_sum(kind, results, groups);
        break;
    case ACC_HIGH:
        state->sum += slots_sum(kind, results, groups) * ((int128)1 << 32);
        break;
    case ACC_JOINED:
        if (state->type == KIND_FLOAT)
            state->number =
                aggregate_join_numbers(state->kind, state->number, slots_float(state->kind, results, groups));
        else
            state->integer = aggregate_join_integers(state->kind, state->integer,
                                                     slots_int(state->kind, results, groups), &state->overflow);
        break;
    case ACC_FOLD:
        add_folds(state, slots, k);
        break;
    case ACC_MAGNITUDE:
        product = slots_product(results, groups, &state->overflow);
        state->overflow = __builtin_mul_overflow(state->magnitude, product, &state->magnitude) || state->overflow;
        break;
    case ACC_OVERFLOW:
        state->overflow = state->overflow || slots_int(AGG_BITOR, results, groups) != 0;
        break;
    case ACC_NEGATIVE:
        state->negative = state->negative != (slots_int(AGG_XOR, results, groups) != 0);
        break;
    case ACC_ZERO:
        state->zero = state->zero || slots_int(AGG_BITOR, results, groups) != 0;
        break;
    case ACC_NANS:
        state->float_sum.nan += (int64_t)slots_sum(kind, results, groups);
        break;
    case ACC_POSITIVE_INF:
        state->float_sum.positive_inf += (int64_t)slots_sum(kind, results, groups);
        break;
    case ACC_NEGATIVE_INF:
        state->float_sum.negative_inf += (int64_t)slots_sum(kind, results, groups);
        break;
    case ACC_KEPT:
    case ACC_FOLDED:
    case ACC_LARGEST:
    case ACC_LEVEL0:
    case ACC_LEVEL1:
    case ACC_LEVEL2:
    case ACC_REST:
    case ACC_HIGH_PART: /* combined on the device (round_text.h) */
    case ACC_LOW_PART:
    case ACC_REST_PART:
    case ACC_WEIGHT:
    case ACC_KIND_COUNT:
        break;
    }
}

void read_aggregate_first(const struct slots *first, int64_t kept, struct agg_state *states, size_t count)
{
    for (size_t k = 0; k < count; k++)
        states[k].count += states[k].kind == AGG_FOLD ? 0 : kept;
    /* Without rows the slots hold identities, which may differ from those of the states. */
    for (size_t k = 0; k < first->accumulators->count && kept > 0; k++)
        add_results(&states[first->accumulators->at[k].aggregate], first, k);
}

void read_aggregate_second(const struct slots *second, const struct float_sum_levels *levels, int64_t kept,
                           struct agg_state *states)
{
    for (size_t k = 0; k < second->accumulators->count; k++) {
        const struct accumulator *accumulator = &second->accumulators->at[k];
        const uint64_t *results = results_of(second, k);
        struct exact_sum *sum = &states[accumulator->aggregate].float_sum;
        if (accumulator->kind == ACC_REST) {
            /* The product is rounded once; the next double up bounds it. */
            const double rest = slots_float(AGG_MAX, results, second->groups);
            if (rest > 0)
                exact_sum_add_error(sum, nextafter(rest * (double)kept, INFINITY));
            continue;
        }
        const int unit = levels[accumulator->aggregate].unit[accumulator->kind - ACC_LEVEL0];
        for (size_t group = 0; group < second->groups; group++)
            exact_sum_add_scaled(sum, (int64_t)results[group], unit);
    }
}
