#include "engine/backend/aggregate.h"

#include "engine/backend/user_reduce.h"
#include "engine/values/dictionary.h"

#include <assert.h>
#include <math.h>
#include <string.h>

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
        .bits = aggregate->kind == AGG_BITAND ? -1 : 0,
        .reducer = aggregate->reducer,
    };
    exact_sum_init(&state->float_sum);
}

static void multiply(struct agg_state *state, uint64_t magnitude)
{
    if (__builtin_mul_overflow(state->magnitude, magnitude, &state->magnitude))
        state->overflow = true;
}

void agg_begin(struct agg_state *state, const struct aggregate *aggregate)
{
    const bool ordered = state->kind == AGG_FOLD || (state->kind == AGG_PRODUCT && state->type == KIND_FLOAT);
    if (!aggregate->has_initial || !ordered)
        return;
    state->folded = aggregate->initial;
    state->product = aggregate->initial.number;
    state->begun = true;
}

/* Combines what has been folded so far with one more value. */
static void fold_value(struct agg_state *state, const struct scalar *v)
{
    struct scalar folded = *v;
    const bool first = state->count == 0 && !state->begun;
    if (!first && !user_reduce_apply(state->reducer, state->folded, *v, &folded))
        state->failed = true;
    else if (!state->failed)
        state->folded = folded;
}

static int64_t combine_bits(enum aggregate_kind kind, int64_t a, int64_t b)
{
    return kind == AGG_BITAND ? a & b : kind == AGG_XOR ? a ^ b : a | b;
}

void agg_merge(struct agg_state *into, const struct agg_state *from)
{
    assert(into->kind == from->kind);
    if (into->kind == AGG_FOLD && from->count > 0)
        fold_value(into, &from->folded);
    into->failed = into->failed || from->failed;
    into->bits = combine_bits(into->kind, into->bits, from->bits);
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
    exact_sum_merge(&into->float_sum, &from->float_sum);
}

void agg_add_int(struct agg_state *state, int64_t v)
{
    switch (state->kind) {
    case AGG_COUNT:
    case AGG_QUANTILE: /* these have no state */
    case AGG_VAR:
    case AGG_CORR:
    case AGG_DISTINCT:
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
    case AGG_BITAND:
    case AGG_XOR:
    case AGG_BITOR:
        state->bits = combine_bits(state->kind, state->bits, v);
        break;
    case AGG_FOLD: {
        struct scalar scalar = state->type == KIND_BOOL ? scalar_bool(v != 0) : scalar_int(v);
        fold_value(state, &scalar);
        break;
    }
    }
    state->count++;
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
        exact_sum_add(&state->float_sum, v);
        break;
    case AGG_PRODUCT:
        state->product *= v;
        break;
    case AGG_FOLD: {
        struct scalar scalar = scalar_float(v);
        fold_value(state, &scalar);
        break;
    }
    default: /* counts; bit operations are on integers only */
        break;
    }
    state->count++;
}

void agg_add(struct agg_state *state, const struct scalar *v)
{
    if (v->kind == KIND_FLOAT)
        agg_add_float(state, v->number);
    else
        agg_add_int(state, (int64_t)v->integer);
}

static enum status no_rows(const struct aggregate *aggregate, const char *word, struct diags *diags)
{
    if (strcmp(word, "var") == 0 || strcmp(word, "stddev") == 0 || strcmp(word, "corr") == 0)
        return diag_error(diags, aggregate->span, "`%s` needs two rows with values", word);
    diag_error(diags, aggregate->span, "%s of no rows", word);
    if (aggregate->kind == AGG_FOLD)
        diag_hint(diags, "start from a value with `from VALUE`: it is also the result of no rows");
    else if (!aggregate->word && (aggregate->kind == AGG_MIN || aggregate->kind == AGG_MAX))
        diag_hint(diags, "`reduce %s from VALUE` returns VALUE then; `count` counts the rows", word);
    else
        diag_hint(diags, "`count` counts the rows; sum and product of no rows are 0 and 1");
    return STATUS_FAILED;
}

/* Returns false if the product does not fit in 64 bits. */
static bool product_value(const struct agg_state *state, struct scalar *result)
{
    const uint64_t limit = (uint64_t)INT64_MAX + state->negative;
    int128 magnitude = state->zero ? 0 : state->magnitude;
    *result = scalar_int(state->negative ? -magnitude : magnitude);
    return state->zero || (!state->overflow && state->magnitude <= limit);
}

static struct scalar int_result(const struct agg_state *state)
{
    switch (state->kind) {
    case AGG_COUNT:
        return scalar_int(state->count);
    case AGG_MEAN:
        return scalar_float(int128_quotient(state->sum, state->count));
    case AGG_MIN:
    case AGG_MAX: {
        const int64_t bound = state->kind == AGG_MIN ? state->lo : state->hi;
        return state->type == KIND_BOOL ? scalar_bool(bound != 0) : scalar_int(bound);
    }
    case AGG_BITAND:
    case AGG_XOR:
    case AGG_BITOR:
        return state->type == KIND_BOOL ? scalar_bool(state->bits & 1) : scalar_int(state->bits);
    default:
        return scalar_int(state->sum);
    }
}

/* Adding 0.0 makes a zero positive: its sign must not depend on the order of rows. */
static struct scalar float_result(const struct agg_state *state, bool *certain)
{
    switch (state->kind) {
    case AGG_COUNT:
        return scalar_int(state->count);
    case AGG_PRODUCT:
        return scalar_float(state->product + 0.0);
    case AGG_MIN:
    case AGG_MAX: {
        const double bound = state->kind == AGG_MIN ? state->flo : state->fhi;
        return scalar_float(state->count == 0 ? NAN : bound + 0.0);
    }
    case AGG_MEAN:
        return scalar_float(exact_sum_result(&state->float_sum, certain) / (double)state->count + 0.0);
    default:
        return scalar_float(exact_sum_result(&state->float_sum, certain) + 0.0);
    }
}

/* `count` is not 0 unless there is an initial value. */
static void fold_result(const struct agg_state *state, const struct aggregate *aggregate, struct scalar *result,
                        bool *certain)
{
    *result = state->folded;
    *certain = !state->failed;
    if (!aggregate->has_initial || state->begun || state->failed)
        return;
    *result = aggregate->initial;
    if (state->count > 0)
        *certain = user_reduce_apply(state->reducer, aggregate->initial, state->folded, result);
}

bool agg_value(const struct agg_state *state, const struct aggregate *aggregate, struct scalar *result, bool *certain)
{
    bool needs_rows =
        state->kind == AGG_MIN || state->kind == AGG_MAX || state->kind == AGG_MEAN || state->kind == AGG_FOLD;
    *certain = true;
    if (needs_rows && state->count == 0 && state->nans == 0 && !aggregate->has_initial)
        return false;
    if (state->kind == AGG_FOLD) {
        fold_result(state, aggregate, result, certain);
        return true;
    }
    struct agg_state all = *state;
    if (aggregate->has_initial && !state->begun)
        agg_add(&all, &aggregate->initial);
    if (all.kind == AGG_PRODUCT && all.type != KIND_FLOAT)
        return product_value(&all, result);
    *result = all.type == KIND_FLOAT ? float_result(&all, certain) : int_result(&all);
    return true;
}

/* Gives the result its logical type: 10^scale divides a mean of decimals, a mean of durations is rounded. */
static void set_logical(const struct aggregate *aggregate, struct scalar *result, struct diags *diags)
{
    const struct logical_type *logical = &aggregate->logical;
    if (result->kind == KIND_FLOAT && logical->kind == LOGICAL_DECIMAL) {
        double unit = 1; /* powers of ten are exact up to 10^22 */
        for (int i = 0; i < logical->scale; i++)
            unit *= 10;
        result->number /= unit;
        return;
    }
    if (result->kind == KIND_FLOAT && logical->kind == LOGICAL_DURATION)
        *result = scalar_int(llround(result->number));
    result->logical = *logical;
    if (logical->kind == LOGICAL_TEXT) {
        struct text text = dictionary_text(logical->dictionary, (int64_t)result->integer);
        result->text = (struct text){arena_text(diags->arena, text.at, text.length), text.length};
    }
}

enum status agg_finish(const struct agg_state *state, const struct aggregate *aggregate, struct scalar *result,
                       bool *certain, struct diags *diags)
{
    static const char *const words[] = {
        [AGG_MIN] = "min", [AGG_MAX] = "max", [AGG_MEAN] = "mean", [AGG_FOLD] = "reduce"};
    if (agg_value(state, aggregate, result, certain)) {
        set_logical(aggregate, result, diags);
        return STATUS_OK;
    }
    if (state->kind != AGG_PRODUCT)
        return no_rows(aggregate, aggregate->word ? aggregate->word : words[state->kind], diags);
    diag_error(diags, aggregate->span, "the product does not fit in 64 bits");
    diag_hint(diags, "`product float(x)` is rounded instead");
    return STATUS_FAILED;
}

enum status agg_element(const struct agg_state *state, const struct aggregate *aggregate, struct scalar *result,
                        bool *certain, struct diags *diags)
{
    const bool product = state->kind == AGG_PRODUCT;
    const bool any = agg_value(state, aggregate, result, certain);
    if (!any && !product) {
        const bool number = state->type == KIND_FLOAT || state->kind == AGG_MEAN;
        *result = number ? scalar_float(0) : state->type == KIND_BOOL ? scalar_bool(false) : scalar_int(0);
        return STATUS_OK;
    }
    if (any && (result->kind == KIND_FLOAT || scalar_fits(result)))
        return STATUS_OK;
    diag_error(diags, aggregate->span, "the %s does not fit in 64 bits", product ? "product" : "sum");
    diag_hint(diags, "`%s(float(...))` is rounded instead", product ? "product" : "sum");
    return STATUS_FAILED;
}
