#include "engine/vector/product_sum.h"

#include "base/cpu_dispatch.h"
#include "engine/values/compensated_sum.h"

#include <string.h>

/* One cache line, which the compiler splits into the registers that there are. */
enum { LINE_BYTES = 64, INTS = LINE_BYTES / sizeof(int32_t), LONGS = LINE_BYTES / sizeof(int64_t) };
enum { ROUND_BLOCK = 256 }; /* rounds for which a part of a line is copied to a whole one */
typedef int32_t ints __attribute__((vector_size(LINE_BYTES)));
typedef uint64_t longs __attribute__((vector_size(LINE_BYTES)));
typedef int32_t half_ints __attribute__((vector_size(LINE_BYTES / 2)));
typedef double doubles __attribute__((vector_size(LINE_BYTES)));
typedef int64_t signed_longs __attribute__((vector_size(LINE_BYTES)));

/* compensated_sum_two_sum of each lane; *b becomes the errors. */
static inline __attribute__((always_inline)) void two_sums(doubles *a, doubles *b)
{
    const doubles sum = *a + *b, part = sum - *a;
    *b = (*a - (sum - part)) + (*b - part);
    *a = sum;
}

/* Sums of LONGS lanes from `lane`, `rounds` rounds from `first`. */
static inline __attribute__((always_inline)) void add_doubles_of(const struct product_sum *sum, int lane, int64_t first,
                                                                 int64_t rounds, bool uniform)
{
    const double *x = (const double *)sum->x + first * sum->x_round + (uniform ? 0 : lane),
                 *y = (const double *)sum->y + first * sum->y_round + lane;
    doubles high, low, rest, weight;
    memcpy(&high, (double *)sum->states[0] + lane, sizeof high);
    memcpy(&low, (double *)sum->states[1] + lane, sizeof low);
    memcpy(&rest, (double *)sum->states[2] + lane, sizeof rest);
    memcpy(&weight, (double *)sum->states[3] + lane, sizeof weight);
    for (int64_t r = 0; r < rounds; r++, x += sum->x_round, y += sum->y_round) {
        doubles a, term;
        memcpy(&term, y, sizeof term);
        if (uniform) {
            term *= *x;
        } else {
            memcpy(&a, x, sizeof a);
            term *= a;
        }
        two_sums(&high, &term);
        two_sums(&low, &term);
        rest += term;
        weight += (doubles)((signed_longs)term & INT64_MAX);
    }
    memcpy((double *)sum->states[0] + lane, &high, sizeof high);
    memcpy((double *)sum->states[1] + lane, &low, sizeof low);
    memcpy((double *)sum->states[2] + lane, &rest, sizeof rest);
    memcpy((double *)sum->states[3] + lane, &weight, sizeof weight);
}

/* Sums of whole lines; returns of how many lanes. Some rounds of all lanes before the next: so y is read in the order
 * in which it lies, and the next lines find it in the first cache. */
CPU_CLONES static int add_doubles(const struct product_sum *sum)
{
    enum { ROUNDS = 16 };
    const int lanes = sum->lanes / LONGS * LONGS;
    for (int64_t first = 0; first < sum->rounds; first += ROUNDS) {
        const int64_t rounds = sum->rounds - first < ROUNDS ? sum->rounds - first : ROUNDS;
        for (int lane = 0; lane < lanes && sum->uniform; lane += LONGS)
            add_doubles_of(sum, lane, first, rounds, true);
        for (int lane = 0; lane < lanes && !sum->uniform; lane += LONGS)
            add_doubles_of(sum, lane, first, rounds, false);
    }
    return lanes;
}

/* Sums of `lines` * INTS lanes from `lane`. */
static inline __attribute__((always_inline)) void add_lines(const struct product_sum *sum, int lane, int lines,
                                                            bool uniform)
{
    enum { MOST = 8 };
    const int32_t *x = (const int32_t *)sum->x + (uniform ? 0 : lane), *y = (const int32_t *)sum->y + lane;
    int32_t *state = (int32_t *)sum->states[0] + lane;
    ints sums[MOST];
    memcpy(sums, state, (size_t)lines * sizeof *sums);
    for (int64_t r = 0; r < sum->rounds; r++, x += sum->x_round, y += sum->y_round) {
        const int32_t one = *x;
#pragma GCC unroll 8
        for (int k = 0; k < lines; k++) {
            ints a, term;
            memcpy(&term, y + k * INTS, sizeof term);
            if (uniform) {
                term *= one;
            } else {
                memcpy(&a, x + k * INTS, sizeof a);
                term *= a;
            }
            sums[k] += term;
        }
    }
    memcpy(state, sums, (size_t)lines * sizeof *sums);
}

CPU_CLONES static void add_8_lines(const struct product_sum *sum, int lane)
{
    if (sum->uniform)
        add_lines(sum, lane, 8, true);
    else
        add_lines(sum, lane, 8, false);
}

CPU_CLONES static void add_line(const struct product_sum *sum, int lane)
{
    if (sum->uniform)
        add_lines(sum, lane, 1, true);
    else
        add_lines(sum, lane, 1, false);
}

static inline __attribute__((always_inline)) void load_longs(longs *to, const void *from, int64_t at, bool narrow)
{
    half_ints part;
    if (narrow) {
        memcpy(&part, (const int32_t *)from + at, sizeof part);
        *to = __builtin_convertvector(part, longs);
    } else {
        memcpy(to, (const int64_t *)from + at, sizeof *to);
    }
}

/* Sums of 4 * LONGS lanes, or LONGS, from `lane`. */
static inline __attribute__((always_inline)) bool add_long_lines(const struct product_sum *sum, int lane, int lines,
                                                                 bool narrow)
{
    enum { MOST = 4 };
    int64_t at_x = sum->uniform ? 0 : lane, at_y = lane;
    uint64_t *state = (uint64_t *)sum->states[0] + lane;
    longs sums[MOST], overflow = {0};
    memcpy(sums, state, (size_t)lines * sizeof *sums);
    for (int64_t r = 0; r < sum->rounds; r++, at_x += sum->x_round, at_y += sum->y_round) {
        const uint64_t one = (uint64_t)(narrow ? ((const int32_t *)sum->x)[at_x] : ((const int64_t *)sum->x)[at_x]);
#pragma GCC unroll 4
        for (int k = 0; k < lines; k++) {
            longs a, term;
            load_longs(&term, sum->y, at_y + k * LONGS, narrow);
            if (sum->uniform) {
                term *= one;
            } else {
                load_longs(&a, sum->x, at_x + k * LONGS, narrow);
                term *= a;
            }
            const longs next = sums[k] + term;
            overflow |= (sums[k] ^ next) & (term ^ next);
            sums[k] = next;
        }
    }
    memcpy(state, sums, (size_t)lines * sizeof *sums);
    bool any = false;
    for (int k = 0; k < LONGS; k++)
        any = any || overflow[k] >> 63 != 0;
    return any;
}

CPU_CLONES static bool add_4_long_lines(const struct product_sum *sum, int lane, bool narrow)
{
    return narrow ? add_long_lines(sum, lane, 4, true) : add_long_lines(sum, lane, 4, false);
}

CPU_CLONES static bool add_long_line(const struct product_sum *sum, int lane, bool narrow)
{
    return narrow ? add_long_lines(sum, lane, 1, true) : add_long_lines(sum, lane, 1, false);
}

/* Whole lines; returns how many lanes are left, all at the end. */
static int add_whole(const struct product_sum *sum, enum lane factors, enum lane sums, bool *overflow)
{
    int lane = 0;
    if (sums == LANE_F64) {
        lane = add_doubles(sum);
    } else if (sums == LANE_I32) {
        for (; lane + 8 * INTS <= sum->lanes; lane += 8 * INTS)
            add_8_lines(sum, lane);
        for (; lane + INTS <= sum->lanes; lane += INTS)
            add_line(sum, lane);
    } else {
        for (; lane + 4 * LONGS <= sum->lanes; lane += 4 * LONGS)
            *overflow |= add_4_long_lines(sum, lane, factors == LANE_I32);
        for (; lane + LONGS <= sum->lanes; lane += LONGS)
            *overflow |= add_long_line(sum, lane, factors == LANE_I32);
    }
    return sum->lanes - lane;
}

/* Copies `count` elements a round, and so many rounds, to lines. */
static void copy_part(unsigned char *to, const unsigned char *from, int64_t stride, size_t bytes, int64_t rounds)
{
    for (int64_t r = 0; r < rounds; r++)
        memcpy(to + r * LINE_BYTES, from + r * stride, bytes);
}

/* The last lanes, fewer than a line, in copies of whole lines. */
static bool add_part(const struct product_sum *sum, enum lane factors, enum lane sums, int left)
{
    _Alignas(LINE_BYTES) unsigned char states[4][LINE_BYTES] = {{0}};
    _Alignas(LINE_BYTES) unsigned char x[ROUND_BLOCK * LINE_BYTES] = {0}, y[ROUND_BLOCK * LINE_BYTES] = {0};
    const int64_t size = factors == LANE_I32 ? sizeof(int32_t) : sizeof(int64_t);
    const size_t state_size = sums == LANE_I32 ? sizeof(int32_t) : sizeof(int64_t), bytes = (size_t)(left * size);
    const int lane = sum->lanes - left, count = sums == LANE_F64 ? 4 : 1;
    struct product_sum part = *sum;
    bool overflow = false;
    part.lanes = LINE_BYTES / (int)state_size;
    part.y = y;
    part.y_round = LINE_BYTES / size;
    for (int k = 0; k < count; k++) {
        memcpy(states[k], (unsigned char *)sum->states[k] + (size_t)lane * state_size, (size_t)left * state_size);
        part.states[k] = states[k];
    }
    for (int64_t done = 0; done < sum->rounds; done += ROUND_BLOCK) {
        part.rounds = sum->rounds - done < ROUND_BLOCK ? sum->rounds - done : ROUND_BLOCK;
        part.x = (const unsigned char *)sum->x + done * sum->x_round * size;
        copy_part(y, (const unsigned char *)sum->y + (done * sum->y_round + lane) * size, sum->y_round * size, bytes,
                  part.rounds);
        if (!sum->uniform) {
            copy_part(x, (const unsigned char *)part.x + lane * size, sum->x_round * size, bytes, part.rounds);
            part.x = x;
            part.x_round = LINE_BYTES / size;
        }
        add_whole(&part, factors, sums, &overflow);
        part.x_round = sum->x_round;
    }
    for (int k = 0; k < count; k++)
        memcpy((unsigned char *)sum->states[k] + (size_t)lane * state_size, states[k], (size_t)left * state_size);
    return overflow;
}

static bool add_terms(const struct product_sum *sum, enum lane factors, enum lane sums)
{
    bool overflow = false;
    const int left = add_whole(sum, factors, sums, &overflow);
    return left > 0 ? add_part(sum, factors, sums, left) || overflow : overflow;
}

enum { NARROW_LANES = 256, LEAST_NARROW_ROUNDS = 16 };

/* As many rounds as certainly fit are added in 32 bits, and their sums in 64. A product of matrices of small integers
 * takes 2.2 times the time without this, on a 2-core EPYC. */
static bool add_narrow(const struct product_sum *sum, int lane)
{
    const int64_t most = sum->most > 0 ? sum->most : 1;
    _Alignas(LINE_BYTES) int32_t narrow[NARROW_LANES];
    int64_t *wide = (int64_t *)sum->states[0] + lane;
    struct product_sum part = *sum;
    bool overflow = false;
    part.states[0] = narrow;
    part.lanes = sum->lanes - lane < NARROW_LANES ? sum->lanes - lane : NARROW_LANES;
    for (int64_t done = 0; done < sum->rounds; done += part.rounds) {
        part.rounds = sum->rounds - done < INT32_MAX / most ? sum->rounds - done : INT32_MAX / most;
        part.x = (const int32_t *)sum->x + done * sum->x_round + (sum->uniform ? 0 : lane);
        part.y = (const int32_t *)sum->y + done * sum->y_round + lane;
        memset(narrow, 0, sizeof narrow);
        add_terms(&part, LANE_I32, LANE_I32);
        for (int i = 0; i < part.lanes; i++)
            overflow |= __builtin_add_overflow(wide[i], narrow[i], &wide[i]);
    }
    return overflow;
}

bool product_sum_add(const struct product_sum *sum, enum lane factors, enum lane sums)
{
    bool overflow = false;
    if (factors != LANE_I32 || sums != LANE_I64 || sum->most > INT32_MAX / LEAST_NARROW_ROUNDS)
        return add_terms(sum, factors, sums);
    for (int lane = 0; lane < sum->lanes; lane += NARROW_LANES)
        overflow |= add_narrow(sum, lane);
    return overflow;
}

CPU_CLONES int64_t largest_i32(const int32_t *values, int64_t count)
{
    int32_t least = 0, most = 0;
    for (int64_t i = 0; i < count; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    return -(int64_t)least > most ? -(int64_t)least : most;
}

CPU_CLONES int64_t largest_i64(const int64_t *values, int64_t count)
{
    int64_t least = 0, most = 0;
    for (int64_t i = 0; i < count; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    least = least == INT64_MIN ? INT64_MAX : -least;
    return least > most ? least : most;
}

CPU_CLONES void compensated_sums_add(double *const states[4], const double *terms, int count)
{
    double *restrict high = states[0], *restrict low = states[1], *restrict rest = states[2],
                     *restrict weight = states[3];
    for (int i = 0; i < count; i++)
        compensated_add(&high[i], &low[i], &rest[i], &weight[i], terms[i]);
}
