/* Assertions in code: filters that fail where their condition does not hold. */
#ifndef RQL_ENGINE_PLAN_ASSERTION_H
#define RQL_ENGINE_PLAN_ASSERTION_H

#include "engine/plan/code.h"

/* Adds a filter that is true where the condition holds and fails where it does not. It is made of operations that every
 * backend has and checks: 1 << (condition ? 0 : 64), which is 1 or a shift too far. */
value assertion_add(struct code *code, value condition, struct span span);

/* The condition of such a filter; NO_VALUE if the value is none. */
value assertion_condition(const struct code *code, value filter);

/* The same of the filter's shift alone, which is what fails. */
value condition_of_shift(const struct code *code, value shift);

/* Whether the value is the shift of an assertion, also of one whose condition was folded to false. */
bool is_assertion_shift(const struct code *code, value v);

#endif
