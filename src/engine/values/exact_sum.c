#include "engine/values/exact_sum.h"

#include "engine/values/exact_sum_simd.h"

#include <math.h>
#include <string.h>

/* Chunk k counts units of 2^(32 k - 1075). A double's 53 bits, shifted by up to 31, fall into the low 32 bits of one
 * chunk and 52 bits of the next; 2^11 - 1 of those fit the 63 bits of a chunk beside what a propagation leaves. */
enum { CHUNKS = 67, CHUNK_BITS = 32, UNIT = -1075, TERMS = (1 << 11) - 1, MAX_EXPONENT = 1004 };

enum {
    LEAST_BLOCK = 2 * LANES_STEP, /* shorter arrays are faster added one by one */
    LEAST_STREAMED = 4 * LANES_MOST,
    RUN_ROWS = LANES_MOST / LANES_STREAMS /* of each stream in a block */
};

static const uint64_t low_mask = 0xffffffff;

void exact_sum_init(struct exact_sum *sum)
{
    memset(sum, 0, sizeof *sum);
    sum->pending = TERMS;
}

/* Propagates carries: all chunks but the topmost, which has the sign, are 0..2^32-1 then. */
static void propagate(struct exact_sum *sum)
{
    for (int i = 0; i < CHUNKS - 1; i++) {
        const int64_t carry = sum->chunk[i] >> CHUNK_BITS;
        sum->chunk[i] = (int64_t)((uint64_t)sum->chunk[i] & low_mask);
        sum->chunk[i + 1] += carry;
    }
    sum->pending = TERMS;
}

static void add_special(struct exact_sum *sum, double value)
{
    if (isnan(value))
        sum->nan++;
    else if (value > 0)
        sum->positive_inf++;
    else
        sum->negative_inf++;
}

/* Adds a value without counting it as pending; false if it is infinite or NaN. */
static inline bool add_finite(int64_t *chunk, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const unsigned exponent = (unsigned)(bits >> 52) & 0x7ff;
    if (exponent == 0x7ff)
        return false;
    const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    const uint64_t mantissa = exponent ? fraction | UINT64_C(1) << 52 : fraction;
    /* Subnormal numbers have the exponent of the smallest normal ones. */
    const unsigned place = exponent ? exponent : 1;
    const unsigned shift = place % CHUNK_BITS;
    const int64_t low = (int64_t)(mantissa << shift & low_mask);
    const int64_t high = (int64_t)(mantissa >> (CHUNK_BITS - shift));
    const int64_t sign = -(int64_t)(bits >> 63);
    chunk[place / CHUNK_BITS] += (low ^ sign) - sign;
    chunk[place / CHUNK_BITS + 1] += (high ^ sign) - sign;
    return true;
}

void exact_sum_add(struct exact_sum *sum, double value)
{
    if (!add_finite(sum->chunk, value))
        add_special(sum, value);
    else if (--sum->pending == 0)
        propagate(sum);
}

void exact_sum_add_error(struct exact_sum *sum, double bound)
{
    if (bound > 0)
        sum->error = nextafter(sum->error + bound, INFINITY);
    else if (isnan(bound))
        sum->error = INFINITY;
}

void exact_sum_add_scaled(struct exact_sum *sum, int64_t integer, int exponent)
{
    if (integer == 0)
        return;
    if (exponent > MAX_EXPONENT) {
        exact_sum_add_error(sum, INFINITY);
        return;
    }
    uint64_t magnitude = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
    int place = exponent - UNIT;
    if (place < 0) {
        const uint64_t kept = place > -64 ? magnitude >> -place : 0;
        const uint64_t restored = place > -64 ? kept << -place : 0;
        if (restored != magnitude)
            exact_sum_add_error(sum, ldexp(1, UNIT + 1));
        magnitude = kept;
        place = 0;
    }
    const int shift = place % CHUNK_BITS;
    const int64_t sign = integer < 0 ? -1 : 1;
    const uint64_t high = magnitude >> CHUNK_BITS;
    uint64_t parts[3] = {(magnitude & low_mask) << shift & low_mask, 0, 0};
    const uint64_t middle = ((magnitude & low_mask) << shift >> CHUNK_BITS) + (high << shift);
    parts[1] = middle & low_mask;
    parts[2] = middle >> CHUNK_BITS;
    for (int i = 0; i < 3; i++)
        sum->chunk[place / CHUNK_BITS + i] += sign * (int64_t)parts[i];
    if (--sum->pending == 0)
        propagate(sum);
}

static void add_one_by_one(struct exact_sum *sum, const double *values, int64_t count)
{
    while (count > 0) {
        const int64_t block = count < sum->pending ? count : sum->pending;
        for (int64_t i = 0; i < block; i++) {
            if (!add_finite(sum->chunk, values[i]))
                add_special(sum, values[i]);
        }
        sum->pending -= (int32_t)block;
        if (sum->pending == 0)
            propagate(sum);
        values += block;
        count -= block;
    }
}

static bool add_lanes(struct exact_sum *sum, const struct exact_sum_values *values)
{
    struct exact_sum_lanes part;
    if (!exact_sum_lanes_add(values, sum->ceiling, sum->levels, &part))
        return false;
    for (int k = 0; k < sum->levels; k++)
        exact_sum_add_scaled(sum, part.integer[k], part.unit[k]);
    return true;
}

static int ceiling_of(const struct exact_sum_values *values)
{
    if (values->apart == LANES_BESIDE)
        return exact_sum_lanes_ceiling(values->at, values->count);
    int most = exact_sum_lanes_ceiling(values->at, RUN_ROWS);
    for (int run = 1; run < LANES_STREAMS; run++) {
        const int ceiling = exact_sum_lanes_ceiling(values->at + run * values->apart, RUN_ROWS);
        most = ceiling > most ? ceiling : most;
    }
    return most;
}

/* With the ceiling and levels of the block before if they fit, else with its own. */
static bool add_block(struct exact_sum *sum, const struct exact_sum_values *values)
{
    if (sum->levels > 0 && add_lanes(sum, values))
        return true;
    const int ceiling = ceiling_of(values);
    if (ceiling > LANES_HIGHEST)
        return false;
    sum->ceiling = ceiling < LANES_HIGHEST ? ceiling + 1 : ceiling; /* with room for the blocks after it */
    sum->levels = LANES_FEW_LEVELS;
    if (add_lanes(sum, values))
        return true;
    sum->levels = LANES_LEVELS;
    return add_lanes(sum, values);
}

/* Adds LANES_STREAMS runs of `rows` values, a multiple of RUN_ROWS. */
static void add_streams(struct exact_sum *sum, const double *values, int64_t rows)
{
    for (int64_t row = 0; row < rows; row += RUN_ROWS) {
        const struct exact_sum_values block = {.at = values + row, .apart = rows, .count = LANES_MOST};
        if (add_block(sum, &block))
            continue;
        for (int run = 0; run < LANES_STREAMS; run++)
            add_one_by_one(sum, block.at + run * rows, RUN_ROWS);
    }
}

void exact_sum_add_array(struct exact_sum *sum, const double *values, int64_t count)
{
    if (count >= LEAST_STREAMED) {
        const int64_t rows = count / LANES_MOST * RUN_ROWS;
        add_streams(sum, values, rows);
        values += rows * LANES_STREAMS;
        count -= rows * LANES_STREAMS;
    }
    while (count >= LEAST_BLOCK) {
        const int some = count < LANES_MOST ? (int)count / LANES_STEP * LANES_STEP : LANES_MOST;
        const struct exact_sum_values block = {.at = values, .apart = LANES_BESIDE, .count = some};
        if (!add_block(sum, &block))
            add_one_by_one(sum, values, some);
        values += some;
        count -= some;
    }
    add_one_by_one(sum, values, count);
}

void exact_sum_merge(struct exact_sum *into, const struct exact_sum *from)
{
    struct exact_sum other = *from;
    propagate(into);
    propagate(&other);
    for (int i = 0; i < CHUNKS; i++)
        into->chunk[i] += other.chunk[i];
    into->pending = TERMS - 1; /* the sum of two propagated chunks is less than one more term */
    into->positive_inf += other.positive_inf;
    into->negative_inf += other.negative_inf;
    into->nan += other.nan;
    if (other.error > 0)
        exact_sum_add_error(into, other.error);
}

/* The finite part, rounded to nearest even; infinite beyond the largest double. */
static double round_finite(const struct exact_sum *sum)
{
    struct exact_sum exact = *sum;
    propagate(&exact);
    const bool negative = exact.chunk[CHUNKS - 1] < 0;
    if (negative) {
        for (int i = 0; i < CHUNKS; i++)
            exact.chunk[i] = -exact.chunk[i];
        propagate(&exact);
    }
    int top = CHUNKS - 1;
    while (top > 0 && exact.chunk[top] == 0)
        top--;
    /* The topmost 64 bits from the first set one, and a sticky bit for all below: rounding these to 53 bits rounds the
     * whole. Smaller numbers are subnormal and exact. */
    uint64_t bits = (uint64_t)exact.chunk[top];
    if (bits == 0)
        return 0.0;
    int place = CHUNK_BITS * top;
    const int free_bits = __builtin_clzll(bits);
    bool below = false;
    bits <<= free_bits;
    place -= free_bits;
    for (int i = top - 1; i >= 0; i--) {
        const uint64_t chunk = (uint64_t)exact.chunk[i];
        const int shift = CHUNK_BITS * i - place;
        if (shift >= 0) {
            bits |= chunk << shift;
        } else if (shift > -CHUNK_BITS) {
            bits |= chunk >> -shift;
            below = below || (chunk << (64 + shift)) != 0;
        } else {
            below = below || chunk != 0;
        }
    }
    const double rounded = ldexp((double)(bits | below), place + UNIT);
    return negative ? -rounded : rounded;
}

double exact_sum_result(const struct exact_sum *sum, bool *certain)
{
    *certain = true;
    if (sum->nan || (sum->positive_inf && sum->negative_inf))
        return NAN;
    if (sum->positive_inf)
        return INFINITY;
    if (sum->negative_inf)
        return -INFINITY;
    const double result = round_finite(sum);
    if (sum->error > 0) {
        /* Rounding is monotonic: if both ends of the interval round alike, so does everything between. */
        struct exact_sum least = *sum, most = *sum;
        exact_sum_add(&least, -sum->error);
        exact_sum_add(&most, sum->error);
        *certain = isfinite(sum->error) && round_finite(&least) == result && round_finite(&most) == result;
    }
    return result;
}
