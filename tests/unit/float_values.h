/* Random floats that are hard to add: mixed magnitudes, the ends of the range, and sums halfway between two doubles. */
#ifndef RQL_TESTS_UNIT_FLOAT_VALUES_H
#define RQL_TESTS_UNIT_FLOAT_VALUES_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum content {
    UNIFORM,
    NORMAL,   /* rarely small */
    INTEGERS, /* many sums halfway between two doubles, beside a large one */
    WIDE,     /* magnitudes of 60 binades */
    BROAD,    /* of 38 binades */
    CANCEL,   /* values and their negations, with a little between */
    EXTREME,  /* the largest, the least, subnormal, infinite, NaN, zeros */
    LARGEST,  /* the largest that fit, all of one sign */
    SUBNORMAL,
    ZEROS,   /* both, with few other values */
    SINKING, /* ever smaller */
    HALFWAY, /* an even number and half of its last place */
    CONTENTS
};

static inline uint64_t next(uint64_t *seed)
{
    *seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *seed;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline double uniform(uint64_t *seed)
{
    return (double)(next(seed) >> 11) * 0x1p-53;
}

static inline double value_of(uint64_t *seed, enum content content, int64_t row, int64_t rows)
{
    static const double extremes[] = {DBL_MAX, -DBL_MAX, 1e308,     -1e308, 1e-308, DBL_TRUE_MIN, -DBL_TRUE_MIN, 0.0,
                                      -0.0,    1,        0x1p-1022, -1,     1e300,  -1e300,       INFINITY,      NAN};
    const double sign = next(seed) % 2 ? 1 : -1;
    switch (content) {
    case NORMAL:
        return sign * sqrt(-2 * log(uniform(seed) + 0x1p-60)) * cos(6.28 * uniform(seed));
    case INTEGERS:
        return row % 7 == 0 ? 0x1p53 : (double)(next(seed) % 5) - 2;
    case WIDE:
        return sign * ldexp(1 + uniform(seed), (int)(next(seed) % 60) - 30);
    case BROAD:
        return sign * ldexp(1 + uniform(seed), (int)(next(seed) % 38));
    case CANCEL:
        return row % 3 == 0 ? 1e10 : row % 3 == 1 ? -1e10 : sign * uniform(seed) * 1e-6;
    case EXTREME:
        return extremes[next(seed) % (next(seed) % 50 ? 14 : 16)];
    case LARGEST:
        return 0x1p1004 - (double)(next(seed) % 2) * 0x1p951;
    case SUBNORMAL:
        return sign * ldexp((double)(next(seed) >> 12), -1074 + (int)(next(seed) % 30));
    case ZEROS:
        return next(seed) % 20 ? sign * 0.0 : sign * uniform(seed);
    case SINKING:
        return sign * ldexp(1 + uniform(seed), (int)(900 - 1800 * row / rows));
    case HALFWAY:
        return row % 2 ? 0x1p40 + 0x1p-12 * (double)(next(seed) % 4) : 0x1p-13;
    default:
        return uniform(seed);
    }
}

static inline bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

#endif
