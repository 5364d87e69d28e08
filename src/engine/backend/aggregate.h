/* Partial results of aggregates: one state for each range of rows, merged and finished once. States merge in any order,
 * except those of AGG_FOLD and of aggregate_in_order. */
#ifndef RQL_ENGINE_BACKEND_AGGREGATE_H
#define RQL_ENGINE_BACKEND_AGGREGATE_H

#include "engine/plan/task.h"
#include "engine/values/exact_sum.h"

struct agg_state {
    enum aggregate_kind kind;
    enum kind type;  /* of the aggregated value; int for count */
    int64_t count;   /* rows aggregated */
    int128 sum;      /* int sum, mean */
    int64_t integer; /* int min, max, and, xor, or: joined so far */
    double number;   /* float min, max; product, in row order: ranges must come in order */
    /* int product: sign and magnitude of the non-zero factors, and whether the magnitude has overflowed */
    uint64_t magnitude;
    bool negative, overflow, zero;
    struct exact_sum float_sum;        /* float sum, mean */
    const struct user_reduce *reducer; /* fold; */
    struct scalar folded;              /* of the initial value, if `begun`, and `count` values in order */
    bool begun;                        /* agg_begin has added the initial value */
    bool failed;                       /* the function had no result: `folded` is as before */
};

void agg_init(struct agg_state *state, const struct aggregate *aggregate, const struct code *code);

/* Adds the initial value, if there is one, to the state of the first rows of an aggregate in order. For other
 * aggregates agg_finish adds it. */
void agg_begin(struct agg_state *state, const struct aggregate *aggregate);

/* Merges the state of the rows that follow. */
void agg_merge(struct agg_state *into, const struct agg_state *from);

/* Adds one value. */
void agg_add_int(struct agg_state *state, int64_t v);
void agg_add_float(struct agg_state *state, double v);
void agg_add(struct agg_state *state, const struct scalar *v);

/* The state of aggregate i, computed of that of another one where it is derived (sum_algebra.c). */
struct agg_state agg_derived(const struct agg_state *states, const struct aggregate *aggregates, size_t i);

/* Computes the result. *certain is false if the exact evaluator has to decide: a float sum, or a fold that failed.
 * Fails, with an error, for min, max, mean or fold of no rows without an initial value, and for a product beyond 64
 * bits. */
enum status agg_finish(const struct agg_state *state, const struct aggregate *aggregate, struct scalar *result,
                       bool *certain, struct diags *diags);

/* The result as an element of a column of the aggregated value's kind, or of floats for a mean: 0 where agg_finish
 * reports that there are no rows. Fails, with an error, if it does not fit in 64 bits. */
enum status agg_element(const struct agg_state *state, const struct aggregate *aggregate, struct scalar *result,
                        bool *certain, struct diags *diags);

/* Returns false where agg_finish reports an error. */
bool agg_value(const struct agg_state *state, const struct aggregate *aggregate, struct scalar *result, bool *certain);

#endif
