/* Partial results of aggregates: what each range of rows adds, merged (in any order, but for those of a fold and for
 * aggregate_in_order), finished once. */
#ifndef RQL_ENGINE_BACKEND_AGGREGATE_H
#define RQL_ENGINE_BACKEND_AGGREGATE_H

#include "engine/plan/task.h"
#include "engine/values/exact_sum.h"

struct agg_state {
    enum aggregate_kind kind;
    enum kind type;  /* of the aggregated value; int for count */
    int64_t count;   /* rows aggregated; for float min and max: rows that are not NaN */
    int64_t nans;    /* float min and max: rows that are */
    int128 sum;      /* int sum, mean */
    int64_t lo, hi;  /* int min, max */
    double flo, fhi; /* float min, max */
    /* int product: sign and magnitude of the non-zero factors, and whether the magnitude has overflowed */
    uint64_t magnitude;
    bool negative, overflow, zero;
    double product;                    /* float product, in row order: ranges must come in order */
    int64_t bits;                      /* int and, xor, or */
    struct exact_sum float_sum;        /* float sum, mean */
    const struct user_reduce *reducer; /* fold; */
    struct scalar folded;              /* of `count` values, in their order, and of what agg_begin put before them */
    bool begun;                        /* agg_begin has taken the initial value in */
    bool failed;                       /* the function had no result: `folded` is what it was before */
};

void agg_init(struct agg_state *state, const struct aggregate *aggregate, const struct code *code);

/* Puts the aggregate's initial value, if it has one, before all values where their order matters. Done at most once;
 * agg_finish sees to the rest. */
void agg_begin(struct agg_state *state, const struct aggregate *aggregate);

/* Adds what comes after. */
void agg_merge(struct agg_state *into, const struct agg_state *from);

/* Adds one value. Used by the evaluators (the vectorised one has faster loops for the common kinds). */
void agg_add_int(struct agg_state *state, int64_t v);
void agg_add_float(struct agg_state *state, double v);
void agg_add(struct agg_state *state, const struct scalar *v);

/* The result. `certain` false: a float sum, or a fold that failed, must be redone exactly. Errors: min, max, mean, fold
 * of no rows and without an initial value; a product beyond 64 bits. */
enum status agg_finish(const struct agg_state *state, const struct aggregate *aggregate, struct scalar *result,
                       bool *certain, struct diags *diags);

/* The same without a word: false if there is no result. */
bool agg_value(const struct agg_state *state, const struct aggregate *aggregate, struct scalar *result, bool *certain);

#endif
