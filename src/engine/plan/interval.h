/* Interval arithmetic on integers. */
#ifndef RQL_ENGINE_PLAN_INTERVAL_H
#define RQL_ENGINE_PLAN_INTERVAL_H

#include "engine/plan/code.h"
#include "engine/values/scalar.h"

/* lo..hi, not limited to 64 bits; fails: some arguments within their intervals have no result. */
struct interval {
    int128 lo, hi;
    bool fails;
};

/* The hull of both; `fails` is not set. */
struct interval interval_join(struct interval a, struct interval b);

/* An integer operation's interval from its arguments' intervals, which fit in 64 bits. The caller checks whether lo..hi
 * exceeds 64 bits, which is a failure too. */
struct interval interval_of(enum op op, struct interval a, struct interval b, struct interval c);

#endif
