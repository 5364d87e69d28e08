/* Helpers for 64-bit integers, and 128-bit integers for exact sums and products; gcc and clang provide them on 64-bit
 * hosts. */
#ifndef RQL_BASE_INTEGER_H
#define RQL_BASE_INTEGER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* How many bits the number takes, and a number of so many ones. */
static inline int bit_width(uint64_t number)
{
    return number ? 64 - __builtin_clzll(number) : 0;
}

static inline uint64_t low_ones(int bits)
{
    return bits == 0 ? 0 : UINT64_MAX >> (64 - bits);
}

static inline int128 power_of_two(int bits)
{
    return (int128)1 << bits;
}

static inline int64_t double_bits(double number)
{
    int64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* A number of `width` bytes, the low ones first. */
static inline uint64_t load_unsigned(const unsigned char *at, size_t width)
{
    uint64_t number = 0;
    memcpy(&number, at, width);
    return number;
}

/* For qsort. */
#define COMPARE(type)                                                                                                  \
    static inline int compare_##type(const void *a, const void *b)                                                     \
    {                                                                                                                  \
        const type##_t x = *(const type##_t *)a, y = *(const type##_t *)b;                                             \
        return (x > y) - (x < y);                                                                                      \
    }
COMPARE(int32)
COMPARE(int64)
COMPARE(uint64)
#undef COMPARE

#endif
