/* Comparisons with AVX-512, which leaves a bit for each row where other instructions leave a whole element, to be
 * narrowed to a byte: two to three times as fast as what compilers make of the portable loops. */
#ifndef RQL_ENGINE_VECTOR_COMPARE_WIDE_H
#define RQL_ENGINE_VECTOR_COMPARE_WIDE_H

#include "engine/vector/compare_const.h"

/* The loops of compare_const.h for elements of a type, and of EQ, NE, LT and LE in a lane. NULL: there is none, or the
 * processor has no AVX-512. */
vector_fn *compare_const_wide(enum compare_const_kind kind, enum type type);
vector_fn *compare_wide(enum op op, enum lane lane);

#endif
