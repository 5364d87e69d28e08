/* Aggregates as accumulators: what each work-item keeps while it reads rows, and how results of work-items are
 * combined. An aggregate takes one or more. Every accumulator ends as one 64-bit slot per work-group in
 * the output buffer: slot s of n results starts at s * n. */
#ifndef RQL_CL_CODEGEN_ACCUMULATE_H
#define RQL_CL_CODEGEN_ACCUMULATE_H

#include "cl/codegen/user_function.h"
#include "cl/device/kernel_config.h"

#include "engine/backend/aggregate.h"

enum accumulator_kind {
    ACC_KEPT,   /* rows that pass the filters */
    ACC_JOINED, /* of the aggregates with a join in plan/aggregates.def, but sums and products */
    ACC_SUM32,
    ACC_SUM64,
    ACC_LOW, /* sums of the unsigned low and signed high halves, where one sum could overflow */
    ACC_HIGH,
    ACC_MAGNITUDE, /* a product, followed by ACC_OVERFLOW */
    ACC_OVERFLOW,
    ACC_NEGATIVE,
    ACC_ZERO,
    ACC_NANS,
    ACC_POSITIVE_INF,
    ACC_NEGATIVE_INF,
    ACC_LARGEST, /* magnitude of the finite values */
    /* The result of a user function over the rows in order, and how many rows that is; without rows there is none. */
    ACC_FOLD,
    ACC_FOLDED,
    /* The parts of a float sum (see float_sum_levels.h), always together in this order. */
    ACC_LEVEL0,
    ACC_LEVEL1,
    ACC_LEVEL2,
    ACC_REST,
    /* The parts of a compensated sum (engine/values/compensated_sum.h) in one pass, always together in this order. */
    ACC_HIGH_PART,
    ACC_LOW_PART,
    ACC_REST_PART,
    ACC_WEIGHT,
    ACC_KIND_COUNT
};

struct accumulator {
    enum accumulator_kind kind;
    size_t aggregate;
    enum aggregate_kind join; /* ACC_JOINED, */
    enum lane lane;           /* of values in this lane */
};

/* The accumulators of a pass over the rows. */
struct accumulators {
    struct accumulator *at;
    size_t count;
    struct function *functions; /* of user-defined aggregates, numbered by aggregate */
    size_t function_count;
};

/* Plans the accumulators of a task: of the first pass, and of the second pass of float sums (count 0: none; always
 * where all is done in `one_pass`). `rows` is the maximum rows of a launch. Returns false if some aggregate depends on
 * the order of rows. */
bool accumulators_plan(const struct emitter *emitter, int64_t rows, bool one_pass, struct accumulators *first,
                       struct accumulators *second);

/* Returns the accumulator of a filter's counting pass. */
struct accumulators accumulators_plan_count(struct arena *arena);

/* Appends the kernel parameters of float sums: for each, in order, the members of struct float_sum_levels. */
void accumulators_parameters(const struct accumulators *accumulators, struct strbuf *out);

/* Append kernel text: declarations; the step of a row, after emit_body and emit_keep; the results of the group written
 * to the output buffer. */
void accumulators_declare(const struct accumulators *accumulators, struct arena *arena, struct strbuf *out);
void accumulators_step(const struct accumulators *accumulators, const struct emitter *emitter, struct strbuf *out);
void accumulators_finish(const struct accumulators *accumulators, const struct emitter *emitter, struct strbuf *out);

/* Whether a kernel can compute the values of all aggregates from their slots, without the host: neither means of
 * integers, products nor user functions. */
bool accumulators_combine_alone(const struct accumulators *first, const struct accumulators *second,
                                const struct task *task);

/* Appends the combination of slot j of `count` (variables of the kernel) with the scalars. */
void accumulators_read_slots(const struct accumulators *accumulators, const struct emitter *emitter,
                             struct strbuf *out);

/* Returns the ulongs of local memory per work-item that accumulators_finish uses. */
size_t accumulators_scratch_words(const struct accumulators *accumulators);

/* Combine the slots of one accumulator: sums; joined integers and floats; ACC_MAGNITUDE, where *overflow is set if the
 * product exceeds 64 bits. */
int128 slots_sum(enum accumulator_kind kind, const uint64_t *slots, size_t results);
int64_t slots_int(enum aggregate_kind join, const uint64_t *slots, size_t results);
double slots_float(enum aggregate_kind join, const uint64_t *slots, size_t results);
uint64_t slots_product(const uint64_t *slots, size_t results, bool *overflow);

/* accumulate_ordered.c: accumulators of user functions, which combine rows in order: an ACC_FOLD and its ACC_FOLDED. */

/* Appends the step of ACC_FOLD k for a row. */
void ordered_step(const struct accumulators *accumulators, const struct emitter *emitter, size_t k, struct strbuf *out);

/* For fold_tiles.cl: combines the consecutive rows of all work-items, in order, into the result of the group so far (r
 * and its count). The group size is a power of two. */
void ordered_combine(const struct accumulators *accumulators, struct arena *arena, struct strbuf *out);

/* Declarations for it, and what to do before each tile. */
void ordered_declare(const struct accumulators *accumulators, struct strbuf *out, size_t group);
void ordered_begin(const struct accumulators *accumulators, struct strbuf *out);

#endif
