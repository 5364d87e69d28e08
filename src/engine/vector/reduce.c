/* Aggregation: each loop reduces a block, then adds one number to the partial result.
 *
 * A loop goes through RUNS parts of the block side by side. So no operation waits for the one before; and a processor,
 * which looks ahead in each part by itself but only up to the end of a page, reads several pages of a column at once.
 */
#include "engine/vector/ops.h"

#include "base/cpu_dispatch.h"
#include "engine/plan/aggregate_join.h"

#include <math.h>

enum { RUNS = 4 };

CPU_CLONES static void fold_count(struct agg_state *state, const void *values, int count)
{
    (void)values;
    state->count += count;
}

/* Loops differ only in types and the operation. */
#define FOLD(name, type, total, identity, with, member, into)                                                          \
    CPU_CLONES static void name(struct agg_state *state, const void *values, int count)                                \
    {                                                                                                                  \
        const int run = count / RUNS;                                                                                  \
        const type *a = values, *b = a + run, *c = b + run, *d = c + run;                                              \
        total of_a = identity, of_b = identity, of_c = identity, of_d = identity;                                      \
        for (int i = 0; i < run; i++) {                                                                                \
            of_a = with(of_a, a[i]);                                                                                   \
            of_b = with(of_b, b[i]);                                                                                   \
            of_c = with(of_c, c[i]);                                                                                   \
            of_d = with(of_d, d[i]);                                                                                   \
        }                                                                                                              \
        for (int i = run; i < count - (RUNS - 1) * run; i++)                                                           \
            of_d = with(of_d, d[i]);                                                                                   \
        of_a = with(of_a, of_b);                                                                                       \
        of_c = with(of_c, of_d);                                                                                       \
        state->member = into(state->member, with(of_a, of_c));                                                         \
        state->count += count;                                                                                         \
    }
#define PLUS(x, y) ((x) + (y))
FOLD(sum_i32, int32_t, int64_t, 0, PLUS, sum, PLUS)
FOLD(sum_small_i64, int64_t, int64_t, 0, PLUS, sum, PLUS)
#define AGGREGATE_JOIN(kind, op, none, code, joined)                                                                   \
    JOINS int32_t kind##_of_i32(int32_t a, int32_t b)                                                                  \
    {                                                                                                                  \
        return joined;                                                                                                 \
    }                                                                                                                  \
    JOINS int64_t kind##_of_i64(int64_t a, int64_t b)                                                                  \
    {                                                                                                                  \
        return joined;                                                                                                 \
    }                                                                                                                  \
    FOLD(kind##_i32, int32_t, int32_t, aggregate_none_i32(none), kind##_of_i32, integer, kind##_of_i64)                \
    FOLD(kind##_i64, int64_t, int64_t, none, kind##_of_i64, integer, kind##_of_i64)
#include "engine/plan/aggregates.def"

/* High and low halves are summed apart: neither sum of a block overflows 64 bits. */
CPU_CLONES static void sum_i64(struct agg_state *state, const void *values, int count)
{
    const int run = count / RUNS;
    const int64_t *a = values, *b = a + run, *c = b + run, *d = c + run;
    int64_t high = 0;
    uint64_t low = 0;
    for (int i = 0; i < run; i++) {
        high += (a[i] >> 32) + (b[i] >> 32) + (c[i] >> 32) + (d[i] >> 32);
        low += (uint64_t)(uint32_t)a[i] + (uint32_t)b[i] + (uint32_t)c[i] + (uint32_t)d[i];
    }
    for (int i = run; i < count - (RUNS - 1) * run; i++) {
        high += d[i] >> 32;
        low += (uint32_t)d[i];
    }
    state->sum += (int128)high * ((int128)1 << 32) + (int128)low;
    state->count += count;
}

static void sum_f64(struct agg_state *state, const void *values, int count)
{
    exact_sum_add_array(&state->float_sum, values, count);
    state->count += count;
}

/* Loops differ only in the comparison. Comparisons with NaN are false, so NaNs are skipped. They are counted, lane by
 * lane, because nothing but NaNs has no extreme other than NaN; without the count GCC compares one value at a time. */
#define EXTREME(name, kind, sign, worst)                                                                               \
    CPU_CLONES static void name(struct agg_state *state, const void *values, int count)                                \
    {                                                                                                                  \
        enum { LANES = 8 };                                                                                            \
        const int run = count / RUNS;                                                                                  \
        const double *a = values;                                                                                      \
        double best[RUNS][LANES], whole = worst;                                                                       \
        int64_t nans[RUNS][LANES] = {0}, nan_count = 0;                                                                \
        int i = 0;                                                                                                     \
        for (int k = 0; k < RUNS * LANES; k++)                                                                         \
            best[k / LANES][k % LANES] = worst;                                                                        \
        for (; i + LANES <= run; i += LANES) {                                                                         \
            for (int r = 0; r < RUNS; r++) {                                                                           \
                for (int k = 0; k < LANES; k++) {                                                                      \
                    const double x = a[r * run + i + k];                                                               \
                    best[r][k] = x sign best[r][k] ? x : best[r][k];                                                   \
                    nans[r][k] += x != x;                                                                              \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        for (int r = 0; r < RUNS; r++) {                                                                               \
            const int end = r + 1 < RUNS ? run : count - r * run;                                                      \
            for (int k = i; k < end; k++) {                                                                            \
                const double x = a[r * run + k];                                                                       \
                best[r][0] = x sign best[r][0] ? x : best[r][0];                                                       \
                nans[r][0] += x != x;                                                                                  \
            }                                                                                                          \
        }                                                                                                              \
        for (int k = 0; k < RUNS * LANES; k++) {                                                                       \
            const double of_lane = best[k / LANES][k % LANES];                                                         \
            whole = of_lane sign whole ? of_lane : whole;                                                              \
            nan_count += nans[k / LANES][k % LANES];                                                                   \
        }                                                                                                              \
        if (nan_count < count)                                                                                         \
            state->number = aggregate_join_numbers(kind, state->number, whole);                                        \
        state->count += count;                                                                                         \
    }
EXTREME(min_f64, AGG_MIN, <, INFINITY)
EXTREME(max_f64, AGG_MAX, >, -INFINITY)

CPU_CLONES static void add_f64(struct agg_state *state, const void *values, int count)
{
    const double *a = values;
    for (int i = 0; i < count; i++)
        agg_add_float(state, a[i]);
}

CPU_CLONES static void add_i32(struct agg_state *state, const void *values, int count)
{
    const int32_t *a = values;
    for (int i = 0; i < count; i++)
        agg_add_int(state, a[i]);
}

CPU_CLONES static void add_i64(struct agg_state *state, const void *values, int count)
{
    const int64_t *a = values;
    for (int i = 0; i < count; i++)
        agg_add_int(state, a[i]);
}

fold_fn *vector_fold(enum aggregate_kind kind, enum lane lane, bool exact_in_64)
{
    static fold_fn *const table[AGG_KINDS][4] = {
        /* BOOL, I32, I64, F64 */
        [AGG_COUNT] = {fold_count, fold_count, fold_count, fold_count},
        [AGG_SUM] = {NULL, sum_i32, sum_i64, sum_f64},
        [AGG_MEAN] = {NULL, sum_i32, sum_i64, sum_f64},
        [AGG_PRODUCT] = {NULL, add_i32, add_i64, add_f64},
        [AGG_FOLD] = {NULL, NULL, NULL, add_f64},
#define AGGREGATE_JOIN(kind, ...) [AGG_##kind][LANE_I32] = kind##_i32, [AGG_##kind][LANE_I64] = kind##_i64,
#include "engine/plan/aggregates.def"
        [AGG_MIN][LANE_F64] = min_f64,
        [AGG_MAX][LANE_F64] = max_f64,
    };
    fold_fn *fold = table[kind][lane];
    return fold == sum_i64 && exact_in_64 ? sum_small_i64 : fold;
}
