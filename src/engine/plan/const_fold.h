/* Folding: operations that are known when they are added to typed code. */
#ifndef RQL_ENGINE_PLAN_CONST_FOLD_H
#define RQL_ENGINE_PLAN_CONST_FOLD_H

#include "engine/plan/code.h"

/* Returns the value of an operation on these arguments (three, NO_VALUE beyond the arity) if it needs no new
 * instruction of this op, else NO_VALUE. Folds constants, unless that would fail, and identities that hold for all
 * arguments, NaN and failing ones included. A rewriting never drops an argument that can fail, nor reads one more often
 * than before. Identities of certain constants (x + 0) apply to exact constants only, so that another literal gives the
 * same program. */
value fold_op(struct code *code, enum op op, const value args[3], struct span span);

#endif
