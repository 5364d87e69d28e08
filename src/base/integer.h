/* Helpers for 64-bit integers, and 128-bit integers for exact sums and products; gcc and clang provide them on 64-bit
 * hosts. */
#ifndef RQL_BASE_INTEGER_H
#define RQL_BASE_INTEGER_H

#include <stdint.h>

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

static inline int64_t min_int64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t max_int64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t clamp_int64(int128 number, int64_t least, int64_t most)
{
    return number < least ? least : number > most ? most : (int64_t)number;
}

static inline int128 min_int128(int128 a, int128 b)
{
    return a < b ? a : b;
}

static inline int128 max_int128(int128 a, int128 b)
{
    return a > b ? a : b;
}

/* a / b rounded up; a >= 0 and b > 0. */
static inline int64_t divide_up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

#endif
