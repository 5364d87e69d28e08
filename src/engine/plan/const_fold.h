/* Folding: what an operation is already known to be when it is added to typed code. */
#ifndef RQL_ENGINE_PLAN_CONST_FOLD_H
#define RQL_ENGINE_PLAN_CONST_FOLD_H

#include "engine/plan/code.h"

/* The value that an operation on these arguments (three, NO_VALUE beyond the arity) comes to without a new instruction
 * of this op, or NO_VALUE. Folds constants, unless that would fail, and identities that hold for all arguments: also
 * for NaN, and for arguments that fail. A rewriting may not drop an argument that can fail, nor read one more often
 * than before. Identities of certain constants (x + 0) are kept to exact ones, so that another literal gives the same
 * program. */
value fold_op(struct code *code, enum op op, const value args[3], struct span span);

#endif
