#include "engine/values/exact_sum_simd.h"

#include "base/cpu_dispatch.h"
#include "base/integer.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    CHAINS = LANES_STREAMS,
    TERM_BITS = 7,               /* a lane adds at most LANES_MOST / (CHAINS * 4) terms, 2^7 */
    TAKEN_BITS = 52 - TERM_BITS, /* from one level's unit to the next */
    LOWEST_UNIT = -1074,
    LINE = 64 / sizeof(double), /* a cache line */
    AHEAD = 16 * LINE,          /* prefetched of each stream, */
    SECOND_LEVEL = 2            /* for a cache of the second level */
};

static const int64_t magnitude_mask = INT64_MAX, fraction_mask = (INT64_C(1) << 52) - 1;

#if defined(__x86_64__)
#define LEVEL      avx_512
#define WITH_LEVEL __attribute__((target("avx2,avx512f,avx512dq,avx512vl")))
#define INLINED    WITH_LEVEL static inline __attribute__((always_inline))
#define LANES      8
#include "engine/values/exact_sum_loop.h"
#endif

#define LEVEL      plain
#define WITH_LEVEL CPU_CLONES
#define INLINED    static inline __attribute__((always_inline))
#define LANES      4
#include "engine/values/exact_sum_loop.h"

exact_sum_level *exact_sum_level_at(int i)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && i-- == 0)
        return add_avx_512;
#endif
    return i == 0 ? add_plain : NULL;
}

bool exact_sum_lanes_add(const struct exact_sum_values *values, int ceiling, int levels, struct exact_sum_lanes *sum)
{
    assert(values->count % LANES_STEP == 0 && values->count <= LANES_MOST);
    /* The last unit is at least the smallest double. */
    const int lowest = LOWEST_UNIT + 52 - 1 - TERM_BITS + (levels - 1) * TAKEN_BITS;
    return exact_sum_level_at(0)(values, ceiling < lowest ? lowest : ceiling, levels, sum);
}

CPU_CLONES static int64_t largest_magnitude(const double *values, int count)
{
    int64_t most = 0;
    for (int i = 0; i < count; i++) {
        int64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        bits &= magnitude_mask;
        most = bits > most ? bits : most;
    }
    return most;
}

int exact_sum_lanes_ceiling(const double *values, int count)
{
    return (int)(largest_magnitude(values, count) >> 52) - 1022;
}
