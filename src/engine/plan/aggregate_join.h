/* How aggregates join two values to one. The kind is a constant where that is in a loop: then one instruction is left.
 */
#ifndef RQL_ENGINE_PLAN_AGGREGATE_JOIN_H
#define RQL_ENGINE_PLAN_AGGREGATE_JOIN_H

#include "engine/plan/aggregates.h"

#define AGGREGATE_JOIN static inline __attribute__((always_inline))

/* Of integers. *overflow is set where a sum or product does not fit, which wraps then. */
AGGREGATE_JOIN int64_t aggregate_join_integers(enum aggregate_kind kind, int64_t a, int64_t b, bool *overflow)
{
    int64_t joined = 0;
    if (kind == AGG_MIN)
        return b < a ? b : a;
    if (kind == AGG_MAX)
        return b > a ? b : a;
    if (kind == AGG_BITAND)
        return a & b;
    if (kind == AGG_XOR)
        return a ^ b;
    if (kind == AGG_BITOR)
        return a | b;
    *overflow |= kind == AGG_PRODUCT ? __builtin_mul_overflow(a, b, &joined) : __builtin_add_overflow(a, b, &joined);
    return joined;
}

/* Of floats, which are added otherwise (engine/values/compensated_sum.h, exact_sum.h). NaN is only the extreme of
 * nothing else. */
AGGREGATE_JOIN double aggregate_join_numbers(enum aggregate_kind kind, double a, double b)
{
    if (kind == AGG_PRODUCT)
        return a * b;
    return (kind == AGG_MIN ? b < a : b > a) || a != a ? b : a;
}

#endif
