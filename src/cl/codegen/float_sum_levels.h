/* Correctly rounded float sums on a device, whatever the order.
 *
 * A first pass finds the largest magnitude. A second pass splits every value into three levels: adding and subtracting
 * C = 1.5 * 2^e rounds to a multiple of 2^(e-52), and the remainder goes to the next level. Sums of such multiples are
 * exact below 2^53 of them, which the choice of e guarantees for the rows of an accumulator, so their order does not
 * matter. The remainder of the third level bounds the error. After S. M. Rump, T. Ogita and S. Oishi, "Accurate
 * floating-point summation" (2008), and J. Demmel and H. D. Nguyen, "Parallel reproducible summation" (2015). */
#ifndef RQL_CL_CODEGEN_FLOAT_SUM_LEVELS_H
#define RQL_CL_CODEGEN_FLOAT_SUM_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

enum { LEVEL_COUNT = 3 };

struct float_sum_levels {
    double largest;               /* maximum magnitude of finite values */
    double constant[LEVEL_COUNT]; /* C of each level */
    int32_t unit[LEVEL_COUNT];    /* a level's sums are multiples of 2^unit */
};

/* Chooses levels for magnitudes up to `largest` > 0 and accumulators that add at most `rows` values. Returns false if
 * the values are too near the largest double. */
bool float_sum_levels_choose(double largest, int64_t rows, struct float_sum_levels *levels);

#endif
