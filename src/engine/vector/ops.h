/* The evaluator's vector operations: one loop for each operation and machine type.
 *
 * A vector has up to BLOCK_ROWS values of one lane: uint8_t for bools (0 or 1), int32_t, int64_t, double. */
#ifndef RQL_ENGINE_VECTOR_OPS_H
#define RQL_ENGINE_VECTOR_OPS_H

#include "engine/backend/aggregate.h"
#include "engine/plan/code.h"
#include "engine/values/const_divide.h"
#include "engine/vector/ahead.h"

enum { BLOCK_ROWS = 2048 };

/* The reciprocal of a constant of 32 or 64 bits. */
union reciprocal {
    struct divisor narrow;
    struct long_divisor wide;
};

struct compare_const; /* compare_const.h */

/* The arguments of a vector operation; `out` overlaps none of the others. */
struct operands {
    void *out;
    const void *a, *b, *c;
    const uint16_t *index; /* selection vector: out[i] = a[index[i]] */
    const uint8_t *mask;   /* the same as a mask of `rows` rows, where packing by it is quicker; else NULL */
    int rows;
    uint8_t *fail;                       /* checked operations: which rows failed, written only if some did */
    int64_t row;                         /* ROW: the number of the block's first row */
    const struct column *whole;          /* GATHER: the column that positions in `a` refer to */
    const union reciprocal *by;          /* division by a constant */
    const struct compare_const *compare; /* probes */
    enum op op;                          /* of loops for several operations */
    struct ahead ahead;                  /* most loops prefetch it */
    bool uniform; /* `b` is the same in all rows; unchecked operations and MUL may read b[0] alone */
    bool uniform_c;
};

/* Computes `count` values; returns whether some row failed. The value in a failed row is arbitrary. */
typedef bool vector_fn(const struct operands *operands, int count);

/* The loop for an operation with integer arguments and result in `lane` (bools, and the condition of ?:, are bytes).
 * CMP_INT_FLOAT takes I64 and F64 and returns I32. NULL: there is none. */
vector_fn *vector_op(enum op op, enum lane lane);

/* The loop that checks every row; lane I64, for the operations that can fail (TO_INT: from F64; ASSERT: bools). */
vector_fn *vector_checked_op(enum op op);

/* DIV and MOD by the nonzero constant `by`, in lane I32 or I64; `b` is not read. */
vector_fn *vector_division(enum op op, enum lane lane, const union reciprocal *by);

/* (a `first` b) `second` c of floats, or c - (a `first` b) if reversed; the operations are ADD, SUB or MUL. `c` may be
 * the same in all rows, too. */
vector_fn *vector_float_pair(enum op first, enum op second, bool reversed);

/* Row numbers of the block, or of the rows in the selection vector. Lane I32 or I64. */
vector_fn *vector_row(enum lane lane);
vector_fn *vector_selected_row(enum lane lane);

/* Conversion to a type that holds all values; NULL for pairs the evaluator does not need. */
vector_fn *vector_move(enum type from, enum type to);
vector_fn *vector_selected_move(enum type from, enum type to);

/* Whether the selected move reads the mask if there is one. */
bool vector_packs(enum type from, enum type to);

/* GATHER: elements of a column stored as `from`, at positions in lane I64, as values of type `to`. Checked. `uniform`:
 * all positions are the first one. */
vector_fn *vector_gather(enum type from, enum type to);

/* The element type of a lane's vectors. */
enum type lane_type(enum lane lane);

/* Adds a vector to an aggregate's partial result. */
typedef void fold_fn(struct agg_state *state, const void *values, int count);
/* The loop for an aggregate; NULL for user reduces of anything but floats (pairwise_reduce.c). `exact_in_64`: the sum
 * of a block fits in 64 bits. */
fold_fn *vector_fold(enum aggregate_kind kind, enum lane lane, bool exact_in_64);

#endif
