/* Partial results of aggregates: what each range of rows adds, merged in any order, finished once. */
#ifndef RQL_ENGINE_AGGREGATE_H
#define RQL_ENGINE_AGGREGATE_H

#include "fsum.h"
#include "task.h"

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
    double product;   /* float product, in row order: ranges must come in order */
    struct fsum fsum; /* float sum, mean */
};

void agg_init(struct agg_state *state, const struct aggregate *aggregate, const struct code *code);
void agg_merge(struct agg_state *into, const struct agg_state *from);

/* Adds one value. Used by the evaluators (the vectorised one has faster loops for the common kinds). */
void agg_add_int(struct agg_state *state, int64_t v);
void agg_add_float(struct agg_state *state, double v);

/* The result. `certain` false: a float sum that must be redone exactly. Errors: min, max, mean of no rows; a product
 * beyond 64 bits. */
enum status agg_finish(const struct agg_state *state, const struct aggregate *aggregate, struct scalar *result,
                       bool *certain, struct diags *diags);

#endif
