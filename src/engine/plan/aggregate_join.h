/* How aggregates join two values to one. The kind is a constant where that is in a loop: then one instruction is left.
 */
#ifndef RQL_ENGINE_PLAN_AGGREGATE_JOIN_H
#define RQL_ENGINE_PLAN_AGGREGATE_JOIN_H

#include "engine/plan/aggregates.h"

#define JOINS static inline __attribute__((always_inline))

/* Joins two integers. Sets *overflow where a sum or product does not fit, and then wraps. */
JOINS int64_t aggregate_join_integers(enum aggregate_kind kind, int64_t a, int64_t b, bool *overflow)
{
    int64_t all = a;
#define AGGREGATE_JOIN(join, op, none, code, joined)                                                                   \
    if (kind == AGG_##join)                                                                                            \
        all = joined;
#define AGGREGATE_JOIN_CHECKED(join, op, none, code, checked, joined)                                                  \
    if (kind == AGG_##join)                                                                                            \
        *overflow |= __builtin_##checked##_overflow(a, b, &all);
#include "engine/plan/aggregates.def"
    return all;
}

/* What leaves 32-bit integers as they are. */
JOINS int32_t aggregate_none_i32(int64_t none)
{
    return none > INT32_MAX ? INT32_MAX : none < INT32_MIN ? INT32_MIN : (int32_t)none;
}

/* Of floats. */
JOINS double aggregate_join_numbers(enum aggregate_kind kind, double a, double b)
{
#define AGGREGATE_JOIN_NUMBERS(join, none, joined)                                                                     \
    if (kind == AGG_##join)                                                                                            \
        return joined;
#include "engine/plan/aggregates.def"
    return a;
}

#endif
