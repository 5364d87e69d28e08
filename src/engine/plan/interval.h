/* Interval arithmetic: what integers are within. */
#ifndef RQL_ENGINE_PLAN_INTERVAL_H
#define RQL_ENGINE_PLAN_INTERVAL_H

#include "engine/plan/code.h"
#include "engine/values/scalar.h"

/* lo..hi before it is cut to 64 bits; fails: some arguments within their intervals have no result. */
struct interval {
    int128 lo, hi;
    bool fails;
};

/* What holds both; whether either fails is left out. */
struct interval interval_join(struct interval a, struct interval b);

/* An integer operation's interval from those of its arguments, which are within 64 bits. A result beyond 64 bits is a
 * failure as well, which the caller sees by lo and hi. */
struct interval interval_of(enum op op, struct interval a, struct interval b, struct interval c);

#endif
