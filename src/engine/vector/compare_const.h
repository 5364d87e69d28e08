/* Comparisons of an integer with constants: order, equality, divisibility, bits. Filters consist of little else.
 *
 * They read a column's elements as stored, where separate operations would widen them to a lane first and compare with
 * a vector of equal numbers. */
#ifndef RQL_ENGINE_VECTOR_COMPARE_CONST_H
#define RQL_ENGINE_VECTOR_COMPARE_CONST_H

#include "engine/vector/ops.h"

enum compare_const_kind {
    COMPARE_BITS,    /* (x & mask) == against */
    COMPARE_LESS,    /* x < against */
    COMPARE_MULTIPLE /* x is a multiple of against */
};

struct compare_const {
    enum compare_const_kind kind;
    value of; /* x */
    int64_t mask, against;
    int64_t plus; /* of x + plus, which lies in lo..hi */
    int64_t lo, hi;
    uint8_t flip;    /* 1: the result is negated */
    vector_fn *loop; /* computes it, for a type */

    /* COMPARE_MULTIPLE, set by compare_const_prepare: x * inverse + shift, rotated right by `rotate`, is at most `most`
     * for multiples only. */
    uint64_t inverse, shift, most;
    unsigned rotate;
};

/* Whether a value is such a comparison; fills `compare` if so. */
bool compare_const_of(const struct code *code, value v, struct compare_const *compare);

/* Rewrites a comparison of y + c or y - c, c a constant, as one of y; false if it is none or would overflow. */
bool compare_const_strip_sum(const struct code *code, struct compare_const *compare);

/* Sets the loop for elements of a type; false: the constants are out of the type's range. */
bool compare_const_prepare(struct compare_const *compare, enum type type);

#endif
