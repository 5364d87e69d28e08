/* The inner loop of exact_sum_simd.c, included there once for each level of a processor, with these defined: LEVEL, the
 * level's name; WITH_LEVEL, the attribute of its functions, and INLINED, of one that is part of these; LANES, the
 * doubles of a vector.
 *
 * Several independent chains, one for each stream, hide the latency of additions. */

#define LOOP_NAME(name, level) name##_##level
#define LOOP_OF(name, level)   LOOP_NAME(name, level)
#define LOOP(name)             LOOP_OF(name, LEVEL)
#define doubles                LOOP(doubles)
#define integers               LOOP(integers)

typedef double doubles __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t integers __attribute__((vector_size(LANES * sizeof(int64_t))));

/* Where values are below 2^(e-1-TERM_BITS) in magnitude, their sum stays within 2^(e-1), and the accumulator between
 * 2^e and 2^(e+1), except that it may be rounded up to that. If the first one ever left this range, additions may have
 * been inexact. What a level of units u leaves is at most u/2 = 2^(e-53): the next level's e is smaller by 52 -
 * TERM_BITS. */
INLINED bool LOOP(add_levels)(const double *values, int64_t apart, int count, int ceiling, int levels,
                              struct exact_sum_lanes *sum)
{
    const bool beside = apart == LANES_BESIDE;
    const int64_t from_chain = beside ? LANES : apart;
    doubles at[LANES_LEVELS][CHAINS];
    int64_t begin[LANES_LEVELS];
    integers outside = {0}, left = {0};
    for (int k = 0; k < levels; k++) {
        const double start = ldexp(1.5, ceiling + 1 + TERM_BITS - k * TAKEN_BITS);
        sum->unit[k] = ceiling + 1 + TERM_BITS - k * TAKEN_BITS - 52;
        begin[k] = double_bits(start);
        for (int c = 0; c < CHAINS; c++)
            at[k][c] = start - (doubles){0};
    }
    for (int i = 0; i < count; i += CHAINS * LANES) {
        for (int at_line = 0; beside && at_line < CHAINS * LANES; at_line += LINE)
            __builtin_prefetch(values + LANES_MOST + at_line); /* the next block, most likely */
        for (int c = 0; !beside && i % (CHAINS * LINE) == 0 && c < CHAINS; c++)
            __builtin_prefetch(values + c * apart + AHEAD, 0, SECOND_LEVEL);
        for (int c = 0; c < CHAINS; c++) {
            doubles rest;
            memcpy(&rest, values + c * from_chain, sizeof rest);
            for (int k = 0; k < levels; k++) {
                const doubles before = at[k][c];
                at[k][c] += rest;
                rest -= at[k][c] - before;
            }
            left |= (integers)rest;
            outside |= (integers)at[0][c] ^ begin[0];
        }
        values += beside ? CHAINS * LANES : LANES;
    }
    int64_t any_outside = 0, any_left = 0;
    for (int lane = 0; lane < LANES; lane++) {
        any_outside |= outside[lane] & ~fraction_mask;
        any_left |= left[lane] & magnitude_mask; /* -0.0 is no remainder */
    }
    if (any_outside != 0 || any_left != 0)
        return false;
    for (int k = 0; k < levels; k++) {
        integers units = {0};
        for (int c = 0; c < CHAINS; c++)
            units += (integers)at[k][c] - begin[k];
        sum->integer[k] = 0;
        for (int lane = 0; lane < LANES; lane++)
            sum->integer[k] += units[lane];
    }
    return true;
}

WITH_LEVEL static bool LOOP(add)(const struct exact_sum_values *values, int ceiling, int levels,
                                 struct exact_sum_lanes *sum)
{
    if (levels != LANES_FEW_LEVELS)
        return LOOP(add_levels)(values->at, values->apart, values->count, ceiling, LANES_LEVELS, sum);
    if (values->apart == LANES_BESIDE)
        return LOOP(add_levels)(values->at, LANES_BESIDE, values->count, ceiling, LANES_FEW_LEVELS, sum);
    return LOOP(add_levels)(values->at, values->apart, values->count, ceiling, LANES_FEW_LEVELS, sum);
}

#undef LOOP_NAME
#undef LOOP_OF
#undef LOOP
#undef doubles
#undef integers
#undef LEVEL
#undef WITH_LEVEL
#undef INLINED
#undef LANES
