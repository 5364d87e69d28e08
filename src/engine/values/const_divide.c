#include "engine/values/const_divide.h"

#include "engine/values/scalar.h"

/* Granlund and Montgomery, "Division by invariant integers using multiplication" (1994), for 31-bit magnitudes.
 *
 * Let l = ceil(log2 d), k = 31 + l and M = ceil(2^k / d), so M * d = 2^k + e with 0 <= e < d <= 2^l. Then
 * n * M / 2^k = n / d + n * e / (d * 2^k). As n <= 2^31 and e < 2^l, n * e < 2^31 * 2^l = 2^k, so the second term is
 * less than 1 / d, which is too little to carry n / d past the next integer: the floor is right. M fits 32 bits since
 * d > 2^(l-1) makes 2^k / d <= 2^32 - 4 for l > 1 and 2^31 for d = 1 and 2; n * M < 2^63 fits 64. */
struct divisor divisor_of(int32_t d)
{
    uint32_t magnitude = d < 0 ? 0U - (uint32_t)d : (uint32_t)d;
    uint32_t flags = 0;
    if (d < 0)
        flags = DIVISOR_NEGATIVE;
    if (d == 0) {
        magnitude = 1;
        flags = DIVISOR_ZERO;
    }
    uint32_t l = 0;
    while (((uint64_t)1 << l) < magnitude)
        l++;
    const uint32_t shift = 31 + l;
    const uint64_t multiplier = (((uint64_t)1 << shift) + magnitude - 1) / magnitude;
    return (struct divisor){(uint32_t)multiplier, shift, magnitude, flags};
}

/* As above with 63 for 31 and 2^64 for 2^32: k = 63 + l, and the high half of the product already is a shift by 64. For
 * d = 1 the remaining shift would be negative, so it is a case of its own. */
struct long_divisor long_divisor_of(int64_t d)
{
    uint64_t magnitude = d < 0 ? 0 - (uint64_t)d : (uint64_t)d;
    uint64_t flags = d < 0 ? DIVISOR_NEGATIVE : 0;
    if (d == 0) {
        magnitude = 1;
        flags = DIVISOR_ZERO;
    }
    if (magnitude == 1)
        return (struct long_divisor){0, 0, 1, flags | DIVISOR_ONE};
    uint32_t l = 0;
    while (((int128)1 << l) < (int128)magnitude)
        l++;
    int128 multiplier = (((int128)1 << (63 + l)) + (int128)magnitude - 1) / (int128)magnitude;
    return (struct long_divisor){(uint64_t)multiplier, l - 1, magnitude, flags};
}
