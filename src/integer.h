/* What the standard library lacks for 64-bit integers. */
#ifndef RQL_INTEGER_H
#define RQL_INTEGER_H

#include <stdint.h>

static inline int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t greatest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* a / b rounded up, of a >= 0 and b > 0. */
static inline int64_t ceiling(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

#endif
