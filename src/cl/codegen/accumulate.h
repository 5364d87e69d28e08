/* Aggregates as accumulators: what each work-item keeps while it walks its rows, and how the results of work-items are
 * joined. An aggregate needs one or more of them. Every accumulator ends as one 64-bit slot for each work-item (chunks)
 * or work-group (grid) in the output buffer: slot s of n results starts at s * n. */
#ifndef RQL_CL_CODEGEN_ACCUMULATE_H
#define RQL_CL_CODEGEN_ACCUMULATE_H

#include "cl/codegen/user_function.h"
#include "cl/device/kernel_config.h"

#include "engine/backend/aggregate.h"

enum accumulator_kind {
    ACC_KEPT, /* rows that pass the filters */
    ACC_SUM32,
    ACC_SUM64,
    ACC_LOW, /* sums of the unsigned low and the signed high halves, where one sum could overflow */
    ACC_HIGH,
    ACC_MIN32,
    ACC_MAX32,
    ACC_MIN64,
    ACC_MAX64,
    ACC_MAGNITUDE, /* a product, followed by ACC_OVERFLOW */
    ACC_OVERFLOW,
    ACC_NEGATIVE,
    ACC_ZERO,
    ACC_FMIN,
    ACC_FMAX,
    ACC_NANS,
    ACC_POSITIVE_INF,
    ACC_NEGATIVE_INF,
    ACC_LARGEST, /* magnitude of the finite values */
    ACC_AND32,
    ACC_AND64,
    ACC_XOR32,
    ACC_XOR64,
    ACC_OR32,
    ACC_OR64,
    /* What the user's function makes of the rows, in their order, and of how many: of none there is nothing. */
    ACC_FOLD,
    ACC_FOLDED,
    /* The parts of a float sum (see float_sum_levels.h), always together in this order. */
    ACC_LEVEL0,
    ACC_LEVEL1,
    ACC_LEVEL2,
    ACC_REST,
    ACC_KIND_COUNT
};

struct accumulator {
    enum accumulator_kind kind;
    size_t aggregate;
};

/* The accumulators of a pass over the rows. */
struct accumulators {
    struct accumulator *at;
    size_t count;
    struct function *functions; /* of the aggregates that fold, numbered by aggregate */
    size_t function_count;
};

/* What a task's aggregates need: in the first pass, and in the second one that float sums take (count 0: none).
 * `rows` is the most rows of a launch. False if some aggregate has no order-independent form. */
bool accumulators_plan(const struct emitter *emitter, int64_t rows, struct accumulators *first,
                       struct accumulators *second);

/* The counting pass of a filter. */
struct accumulators accumulators_plan_count(struct arena *arena);

/* The kernel parameters of float sums: for each, in order, a struct float_sum_levels member by member. */
void accumulators_parameters(const struct accumulators *accumulators, struct strbuf *out);

/* Kernel text at a width: declarations; the step after emit_body and emit_keep; the lanes into the scalars; the
 * scalars into the output buffer. */
void accumulators_declare(const struct accumulators *accumulators, struct strbuf *out, int width);
void accumulators_step(const struct accumulators *accumulators, const struct emitter *emitter, struct strbuf *out,
                       int width);
void accumulators_combine_lanes(const struct accumulators *accumulators, const struct emitter *emitter,
                                struct strbuf *out, int width);
void accumulators_finish(const struct accumulators *accumulators, const struct emitter *emitter, struct strbuf *out,
                         const struct kernel_config *shape);

/* How many ulongs of local memory a work-item needs for accumulators_finish. */
size_t accumulators_scratch_words(const struct accumulators *accumulators);

/* The slots of one accumulator joined: for kinds that add; for minima, maxima and marks of integers; for the same of
 * floats; for ACC_MAGNITUDE, setting *overflow if the product has no 64 bits. */
int128 slots_sum(enum accumulator_kind kind, const uint64_t *slots, size_t results);
int64_t slots_int(enum accumulator_kind kind, const uint64_t *slots, size_t results);
double slots_float(enum accumulator_kind kind, const uint64_t *slots, size_t results);
uint64_t slots_product(const uint64_t *slots, size_t results, bool *overflow);

#endif
