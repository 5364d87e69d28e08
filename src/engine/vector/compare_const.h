/* Questions about one integer that constants answer: comparisons, divisibility, bits. Filters consist of little else.
 *
 * A probe reads a column's elements as they are stored, where the operations that it stands for would widen them to a
 * lane first, and compare with a vector of equal numbers. Private to eval*.c. */
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
    int64_t plus; /* COMPARE_MULTIPLE: of x + plus, which is within lo..hi */
    int64_t lo, hi;
    uint8_t flip;    /* 1: the question is the opposite */
    vector_fn *loop; /* answers it */

    /* COMPARE_MULTIPLE, made for a type by compare_const_prepare: x * inverse + shift, rotated right by `turn`, is at
     * most `most` for multiples, and for nothing else. */
    uint64_t inverse, shift, most;
    unsigned turn;
};

/* Whether a value is the answer to a probe, which is then filled in. */
bool compare_const_of(const struct code *code, value v, struct compare_const *probe);

/* Turns a question about y + c or y - c, c a constant, into one about y; false if it is none, or would overflow. */
bool compare_const_through(const struct code *code, struct compare_const *probe);

/* Gets a probe ready for integers of a type; false: its constants are beyond the type. */
bool compare_const_prepare(struct compare_const *probe, enum type type);

#endif
