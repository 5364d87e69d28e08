/* Float sums on a device, correctly rounded whatever the order.
 *
 * A first pass finds the largest magnitude. A second one cuts every value into three levels: adding and taking away
 * C = 1.5 * 2^e rounds to a multiple of 2^(e-52), the rest goes on to the next level. Sums of such multiples stay
 * exact as long as they stay below 2^53 of them, which the choice of e guarantees for the number of rows an
 * accumulator sees; so they may be added in any order. What the third level leaves over bounds the error.
 * After S. M. Rump, T. Ogita and S. Oishi, "Accurate floating-point summation" (2008), and J. Demmel and H. D. Nguyen,
 * "Parallel reproducible summation" (2015). */
#ifndef RQL_CL_CODEGEN_FLOAT_SUM_LEVELS_H
#define RQL_CL_CODEGEN_FLOAT_SUM_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

enum { LEVEL_COUNT = 3 };

struct float_sum_levels {
    double largest;               /* no finite value is greater in magnitude */
    double constant[LEVEL_COUNT]; /* C of each level */
    int32_t unit[LEVEL_COUNT];    /* a level's sums are multiples of 2^unit */
};

/* For values up to `largest` > 0 in magnitude and accumulators that add at most `rows` of them; false if the values are
 * too near the largest double. */
bool float_sum_levels_choose(double largest, int64_t rows, struct float_sum_levels *levels);

#endif
