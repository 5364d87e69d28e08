#include "aggregate.h"

#include <math.h>

__extension__ typedef unsigned __int128 uint128;

void agg_init(struct agg_state *state, const struct aggregate *aggregate, const struct code *code)
{
    *state = (struct agg_state){
        .kind = aggregate->kind,
        .type = aggregate->value == NO_VALUE ? KIND_INT : code->at[aggregate->value].kind,
        .lo = INT64_MAX,
        .hi = INT64_MIN,
        .flo = INFINITY,
        .fhi = -INFINITY,
        .magnitude = 1,
        .product = 1,
    };
    fsum_init(&state->fsum);
}

static void multiply(struct agg_state *state, uint64_t magnitude)
{
    if (__builtin_mul_overflow(state->magnitude, magnitude, &state->magnitude))
        state->overflow = true;
}

void agg_merge(struct agg_state *into, const struct agg_state *from)
{
    into->count += from->count;
    into->nans += from->nans;
    into->sum += from->sum;
    into->lo = from->lo < into->lo ? from->lo : into->lo;
    into->hi = from->hi > into->hi ? from->hi : into->hi;
    into->flo = from->flo < into->flo ? from->flo : into->flo;
    into->fhi = from->fhi > into->fhi ? from->fhi : into->fhi;
    multiply(into, from->magnitude);
    into->negative = into->negative != from->negative;
    into->overflow = into->overflow || from->overflow;
    into->zero = into->zero || from->zero;
    into->product *= from->product;
    fsum_merge(&into->fsum, &from->fsum);
}

void agg_add_int(struct agg_state *state, int64_t v)
{
    state->count++;
    switch (state->kind) {
    case AGG_COUNT:
        break;
    case AGG_SUM:
    case AGG_MEAN:
        state->sum += v;
        break;
    case AGG_PRODUCT:
        if (v == 0) {
            state->zero = true;
            break;
        }
        state->negative = state->negative != (v < 0);
        multiply(state, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
        break;
    case AGG_MIN:
    case AGG_MAX:
        state->lo = v < state->lo ? v : state->lo;
        state->hi = v > state->hi ? v : state->hi;
        break;
    }
}

static void add_to_bounds(struct agg_state *state, double v)
{
    if (isnan(v)) {
        state->nans++;
        return;
    }
    state->count++;
    state->flo = v < state->flo ? v : state->flo;
    state->fhi = v > state->fhi ? v : state->fhi;
}

void agg_add_float(struct agg_state *state, double v)
{
    switch (state->kind) {
    case AGG_MIN:
    case AGG_MAX:
        add_to_bounds(state, v);
        return;
    case AGG_SUM:
    case AGG_MEAN:
        fsum_add(&state->fsum, v);
        break;
    case AGG_PRODUCT:
        state->product *= v;
        break;
    case AGG_COUNT:
        break;
    }
    state->count++;
}

/* The quotient rounded to nearest even: enough of its bits, and whether there are more, rounded once. */
static double divide(int128 sum, int64_t count)
{
    if (sum == 0)
        return 0.0;
    uint128 dividend = sum < 0 ? 0 - (uint128)sum : (uint128)sum;
    uint128 divisor = (uint128)count;
    int exponent = 0;
    while (dividend >> 127 == 0) {
        dividend <<= 1;
        exponent--;
    }
    /* The divisor has at most 63 bits, so the quotient has more than 64. */
    uint128 quotient = dividend / divisor;
    bool below = dividend % divisor != 0;
    while (quotient >> 64 != 0) {
        below = below || (quotient & 1);
        quotient >>= 1;
        exponent++;
    }
    double rounded = ldexp((double)((uint64_t)quotient | below), exponent);
    return sum < 0 ? -rounded : rounded;
}

static enum status no_rows(const struct aggregate *aggregate, const char *word, struct diags *diags)
{
    diag_error(diags, aggregate->span, "%s of no rows", word);
    diag_hint(diags, "`count` says how many rows are left; sum and product of none are 0 and 1");
    return STATUS_FAILED;
}

static enum status finish_product(const struct agg_state *state, const struct aggregate *aggregate,
                                  struct scalar *result, struct diags *diags)
{
    uint64_t limit = (uint64_t)INT64_MAX + state->negative;
    if (state->zero) {
        *result = scalar_int(0);
    } else if (state->overflow || state->magnitude > limit) {
        diag_error(diags, aggregate->span, "the product does not fit in 64 bits");
        diag_hint(diags, "in floats, as of `product float(x)`, it would be rounded");
        return STATUS_FAILED;
    } else {
        int128 magnitude = state->magnitude;
        *result = scalar_int(state->negative ? -magnitude : magnitude);
    }
    return STATUS_OK;
}

static struct scalar int_result(const struct agg_state *state)
{
    switch (state->kind) {
    case AGG_COUNT:
        return scalar_int(state->count);
    case AGG_MEAN:
        return scalar_float(divide(state->sum, state->count));
    case AGG_MIN:
    case AGG_MAX: {
        int64_t bound = state->kind == AGG_MIN ? state->lo : state->hi;
        return state->type == KIND_BOOL ? scalar_bool(bound != 0) : scalar_int(bound);
    }
    case AGG_SUM:
    case AGG_PRODUCT:
        break;
    }
    return scalar_int(state->sum);
}

/* Adding 0.0 makes a zero positive, so that the sign does not tell in which order rows came. */
static struct scalar float_result(const struct agg_state *state, bool *certain)
{
    switch (state->kind) {
    case AGG_COUNT:
        return scalar_int(state->count);
    case AGG_PRODUCT:
        return scalar_float(state->product + 0.0);
    case AGG_MIN:
    case AGG_MAX: {
        double bound = state->kind == AGG_MIN ? state->flo : state->fhi;
        return scalar_float(state->count == 0 ? NAN : bound + 0.0);
    }
    case AGG_MEAN:
        return scalar_float(fsum_result(&state->fsum, certain) / (double)state->count + 0.0);
    case AGG_SUM:
        break;
    }
    return scalar_float(fsum_result(&state->fsum, certain) + 0.0);
}

enum status agg_finish(const struct agg_state *state, const struct aggregate *aggregate, struct scalar *result,
                       bool *certain, struct diags *diags)
{
    static const char *const of_none[] = {[AGG_MIN] = "min", [AGG_MAX] = "max", [AGG_MEAN] = "mean"};
    *certain = true;
    bool needs_rows = state->kind == AGG_MIN || state->kind == AGG_MAX || state->kind == AGG_MEAN;
    if (needs_rows && state->count == 0 && state->nans == 0)
        return no_rows(aggregate, of_none[state->kind], diags);
    if (state->kind == AGG_PRODUCT && state->type != KIND_FLOAT)
        return finish_product(state, aggregate, result, diags);
    *result = state->type == KIND_FLOAT ? float_result(state, certain) : int_result(state);
    return STATUS_OK;
}
