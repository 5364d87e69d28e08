/* Division by an invariant integer as a multiplication and a shift: the constants for loops and kernels. */
#ifndef RQL_ENGINE_VALUES_CONST_DIVIDE_H
#define RQL_ENGINE_VALUES_CONST_DIVIDE_H

#include <stdint.h>

/* For 32-bit integers; passed to kernels as a uint4, in this order. */
struct divisor {
    uint32_t multiplier;
    uint32_t shift;
    uint32_t magnitude; /* of the divisor; 1 for 0 */
    uint32_t flags;     /* DIVISOR_NEGATIVE, DIVISOR_ZERO */
};

/* For 64-bit integers; passed to kernels as a ulong4. */
struct long_divisor {
    uint64_t multiplier;
    uint64_t shift;
    uint64_t magnitude;
    uint64_t flags; /* also DIVISOR_ONE: the magnitude is 1 */
};

enum { DIVISOR_NEGATIVE = 1, DIVISOR_ZERO = 2, DIVISOR_ONE = 4 };

/* For every |n| <= 2^31: |n| / |d| rounded down is ((uint64_t)|n| * multiplier) >> shift. A divisor of 0 is treated as
 * 1 and flagged; dividing by it fails. */
struct divisor divisor_of(int32_t d);

/* For every |n| <= 2^63: |n| / |d| rounded down is the high 64 bits of |n| * multiplier, >> shift; by DIVISOR_ONE it is
 * |n|, and the multiplier 0. A divisor of 0 is treated as 1 and flagged. */
struct long_divisor long_divisor_of(int64_t d);

#endif
