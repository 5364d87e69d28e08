#include "engine/backend/aggregate.h"

#include "engine/backend/user_reduce.h"
#include "engine/plan/aggregate_join.h"
#include "engine/values/dictionary.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void agg_init(struct agg_state *state, const struct aggregate *aggregate, const struct code *code)
{
    *state = (struct agg_state){
        .kind = aggregate->kind,
        .type = aggregate->value == NO_VALUE ? KIND_INT : code->at[aggregate->value].kind,
        .integer = aggregate_table[aggregate->kind].none,
        .number = aggregate_table[aggregate->kind].number_none,
        .magnitude = 1,
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
    state->number = aggregate->initial.number;
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

/* Not of sums and products, which may exceed 64 bits. */
static void join_integer(struct agg_state *state, int64_t v)
{
    bool overflow = false;
    state->integer = aggregate_join_integers(state->kind, state->integer, v, &overflow);
}

void agg_merge(struct agg_state *into, const struct agg_state *from)
{
    assert(into->kind == from->kind);
    if (into->kind == AGG_FOLD && from->count > 0)
        fold_value(into, &from->folded);
    into->failed = into->failed || from->failed;
    into->count += from->count;
    into->sum += from->sum;
    join_integer(into, from->integer);
    into->number = aggregate_join_numbers(into->kind, into->number, from->number);
    multiply(into, from->magnitude);
    into->negative = into->negative != from->negative;
    into->overflow = into->overflow || from->overflow;
    into->zero = into->zero || from->zero;
    exact_sum_merge(&into->float_sum, &from->float_sum);
}

void agg_add_int(struct agg_state *state, int64_t v)
{
    if (aggregate_table[state->kind].sums) {
        state->sum += v;
    } else if (state->kind == AGG_FOLD) {
        const struct scalar scalar = state->type == KIND_BOOL ? scalar_bool(v != 0) : scalar_int(v);
        fold_value(state, &scalar);
    } else if (state->kind != AGG_PRODUCT) {
        join_integer(state, v);
    } else if (v == 0) {
        state->zero = true;
    } else {
        state->negative = state->negative != (v < 0);
        multiply(state, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
    }
    state->count++;
}

void agg_add_float(struct agg_state *state, double v)
{
    if (aggregate_table[state->kind].sums) {
        exact_sum_add(&state->float_sum, v);
    } else if (state->kind == AGG_FOLD) {
        const struct scalar scalar = scalar_float(v);
        fold_value(state, &scalar);
    } else {
        state->number = aggregate_join_numbers(state->kind, state->number, v);
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

struct agg_state agg_derived(const struct agg_state *states, const struct aggregate *aggregates, size_t i)
{
    const struct derived_sum *derived = aggregates[i].derived;
    if (!derived)
        return states[i];
    struct agg_state state = states[derived->of];
    state.kind = derived->kind;
    state.type = derived->type;
    if (state.type == KIND_INT)
        state.sum = derived->scale * state.sum + (int128)derived->offset * state.count;
    return state;
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
    if (state->kind == AGG_COUNT)
        return scalar_int(state->count);
    if (state->kind == AGG_MEAN)
        return scalar_float(int128_quotient(state->sum, state->count));
    if (state->kind == AGG_SUM)
        return scalar_int(state->sum);
    return state->type == KIND_BOOL ? scalar_bool(state->integer & 1) : scalar_int(state->integer);
}

/* Adding 0.0 makes a zero positive: its sign must not depend on the order of rows. */
static struct scalar float_result(const struct agg_state *state, bool *certain)
{
    if (state->kind == AGG_COUNT)
        return scalar_int(state->count);
    if (!aggregate_table[state->kind].sums)
        return scalar_float(state->number + 0.0);
    const double sum = exact_sum_result(&state->float_sum, certain);
    return scalar_float((state->kind == AGG_MEAN ? sum / (double)state->count : sum) + 0.0);
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
    *certain = true;
    if (aggregate_table[state->kind].needs_rows && state->count == 0 && !aggregate->has_initial)
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

/* Gives the result its logical type: 10^scale divides a mean of decimals, means that are values of their type are
 * rounded. */
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
    if (result->kind == KIND_FLOAT && logical_table[logical->kind].means)
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
    if (agg_value(state, aggregate, result, certain)) {
        set_logical(aggregate, result, diags);
        return STATUS_OK;
    }
    if (state->kind != AGG_PRODUCT)
        return aggregate_no_rows(aggregate, state->kind, diags);
    return diag_error_hint(diags, aggregate->span, "`product float(x)` is rounded instead",
                           "the product does not fit in 64 bits");
}

enum status agg_element(const struct agg_state *state, const struct aggregate *aggregate, struct scalar *result,
                        bool *certain, struct diags *diags)
{
    const char *word = aggregate_table[state->kind].word;
    const bool any = agg_value(state, aggregate, result, certain);
    if (!any && state->kind != AGG_PRODUCT) {
        const bool number = state->type == KIND_FLOAT || state->kind == AGG_MEAN;
        *result = number ? scalar_float(0) : state->type == KIND_BOOL ? scalar_bool(false) : scalar_int(0);
        return STATUS_OK;
    }
    if (any && (result->kind == KIND_FLOAT || scalar_fits(result)))
        return STATUS_OK;
    diag_error(diags, aggregate->span, "the %s does not fit in 64 bits", word);
    return diag_hint(diags, "`%s(float(...))` is rounded instead", word);
}
