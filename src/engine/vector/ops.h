/* The evaluator's vector operations: one loop for each operation and machine type.
 *
 * A vector is up to BLOCK_ROWS values of one lane: uint8_t for bools (0 or 1), int32_t, int64_t, double. Private to
 * eval*.c. */
#ifndef RQL_ENGINE_VECTOR_OPS_H
#define RQL_ENGINE_VECTOR_OPS_H

#include "engine/backend/aggregate.h"
#include "engine/plan/code.h"
#include "engine/values/const_divide.h"

enum { BLOCK_ROWS = 2048, CACHE_LINE = 64 };

/* Of what is divided by: of 32 or of 64 bits. */
union reciprocal {
    struct divisor narrow;
    struct long_divisor wide;
};

struct compare_const; /* compare_const.h */

/* What a vector operation reads and writes; `out` overlaps none of the others. */
struct operands {
    void *out;
    const void *a, *b, *c;
    const uint16_t *index; /* picks: out[i] = a[index[i]] */
    const uint8_t *mask;   /* the same as a mask of `rows` rows, where packing is quicker; else NULL */
    int rows;
    uint8_t *fail;                     /* checked operations: which rows failed, written only if some did */
    int64_t row;                       /* ROW: the number of the block's first row */
    const struct column *whole;        /* GATHER: what the positions in `a` are of */
    const union reciprocal *by;        /* division by a constant */
    const struct compare_const *probe; /* probes */
    enum op op;                        /* operations that share a loop */
};

/* Computes `count` values; true if some row failed. What is computed for a row that failed means nothing, but never
 * traps. */
typedef bool vector_fn(const struct operands *operands, int count);

/* The operation whose integer arguments and result are all in `lane` (booleans, and the condition of ?:, are bytes
 * anyway). CMP_INT_FLOAT takes I64 and F64 and gives I32. NULL: there is none. */
vector_fn *vector_op(enum op op, enum lane lane);

/* The same with a check of every row; lane I64, for the operations that can fail (TO_INT: from F64;
 * ASSERT: bools). */
vector_fn *vector_checked_op(enum op op);

/* DIV and MOD of integers in lane I32 or I64 by a constant other than 0, which `by` holds; nothing is read from `b`. */
vector_fn *vector_division(enum op op, enum lane lane);

/* Row numbers, of the block's rows or of those in the index. Lane I32 or I64. */
vector_fn *vector_row(enum lane lane);
vector_fn *vector_selected_row(enum lane lane);

/* Values of one type as another that holds them; NULL if the evaluator never needs that. */
vector_fn *vector_move(enum type from, enum type to);
vector_fn *vector_selected_move(enum type from, enum type to);

/* Whether picking takes a mask as well as an index. */
bool vector_packs(enum type from, enum type to);

/* GATHER: the elements of a column stored as `from` at positions of lane I64, as values of a lane's type. Checked. */
vector_fn *vector_gather(enum type from, enum type to);

/* How a lane's vectors are stored. */
enum type lane_type(enum lane lane);

/* Adds a vector to an aggregate's partial result. `exact_in_64`: the sum of a block is known to fit 64 bits. */
typedef void fold_fn(struct agg_state *state, const void *values, int count);
/* NULL for folds by the user's own function of anything but floats (pairwise_reduce.h). */
fold_fn *vector_fold(enum aggregate_kind kind, enum lane lane, bool exact_in_64);

#endif
