#include "cl/codegen/float_sum_levels.h"

#include <math.h>

/* With |t| <= 2^(e-1-b), C + t has the exponent of C, so it is rounded to a multiple of u = 2^(e-52): the level takes
 * at most 2^(51-b) u, the remainder is at most u / 2 = 2^(e-53), and 2^b rows sum to at most 2^51 u. The next e'
 * follows from 2^(e'-1-b) = 2^(e-53). Exponents are at least -1022, where u is the smallest double and the remainder
 * 0. */
bool float_sum_levels_choose(double largest, int64_t rows, struct float_sum_levels *levels)
{
    int exponent, bits = 0;
    (void)frexp(largest, &exponent); /* largest < 2^exponent */
    while (bits < 40 && (INT64_C(1) << bits) < rows)
        bits++;
    int e = exponent + 1 + bits;
    if (e > 1023)
        return false;
    levels->largest = largest;
    for (int k = 0; k < LEVEL_COUNT; k++) {
        if (e < -1022)
            e = -1022;
        levels->constant[k] = ldexp(1.5, e);
        levels->unit[k] = e - 52;
        e += bits - 52;
    }
    return true;
}
