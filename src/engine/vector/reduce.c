/* Aggregation: each loop reduces a block, then adds one number to the partial result. */
#include "engine/vector/ops.h"

#include "base/cpu_dispatch.h"

CPU_CLONES static void fold_count(struct agg_state *state, const void *values, int count)
{
    (void)values;
    state->count += count;
}

CPU_CLONES static void sum_i32(struct agg_state *state, const void *values, int count)
{
    const int32_t *a = values;
    int64_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += a[i];
    state->sum += sum;
    state->count += count;
}

CPU_CLONES static void sum_small_i64(struct agg_state *state, const void *values, int count)
{
    const uint64_t *a = values;
    uint64_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += a[i];
    state->sum += (int64_t)sum;
    state->count += count;
}

/* High and low halves are summed apart: neither sum of a block overflows 64 bits. */
CPU_CLONES static void sum_i64(struct agg_state *state, const void *values, int count)
{
    const int64_t *a = values;
    int64_t high = 0;
    uint64_t low = 0;
    for (int i = 0; i < count; i++) {
        high += a[i] >> 32;
        low += (uint32_t)a[i];
    }
    state->sum += (int128)high * ((int128)1 << 32) + (int128)low;
    state->count += count;
}

static void sum_f64(struct agg_state *state, const void *values, int count)
{
    exact_sum_add_array(&state->float_sum, values, count);
    state->count += count;
}

CPU_CLONES static void min_i32(struct agg_state *state, const void *values, int count)
{
    const int32_t *a = values;
    int32_t lo = INT32_MAX;
    for (int i = 0; i < count; i++)
        lo = a[i] < lo ? a[i] : lo;
    state->lo = lo < state->lo ? lo : state->lo;
    state->count += count;
}

CPU_CLONES static void max_i32(struct agg_state *state, const void *values, int count)
{
    const int32_t *a = values;
    int32_t hi = INT32_MIN;
    for (int i = 0; i < count; i++)
        hi = a[i] > hi ? a[i] : hi;
    state->hi = hi > state->hi ? hi : state->hi;
    state->count += count;
}

CPU_CLONES static void min_i64(struct agg_state *state, const void *values, int count)
{
    const int64_t *a = values;
    int64_t lo = state->lo;
    for (int i = 0; i < count; i++)
        lo = a[i] < lo ? a[i] : lo;
    state->lo = lo;
    state->count += count;
}

CPU_CLONES static void max_i64(struct agg_state *state, const void *values, int count)
{
    const int64_t *a = values;
    int64_t hi = state->hi;
    for (int i = 0; i < count; i++)
        hi = a[i] > hi ? a[i] : hi;
    state->hi = hi;
    state->count += count;
}

/* Loops differ only in the type and the operator. */
#define BITS(name, type, identity, column_op)                                                                          \
    CPU_CLONES static void name(struct agg_state *state, const void *values, int count)                                \
    {                                                                                                                  \
        const type *a = values;                                                                                        \
        type bits = identity;                                                                                          \
        for (int i = 0; i < count; i++)                                                                                \
            bits = bits column_op a[i];                                                                                \
        state->bits = state->bits column_op bits;                                                                      \
        state->count += count;                                                                                         \
    }
BITS(and_i32, int32_t, -1, &)
BITS(and_i64, int64_t, -1, &)
BITS(xor_i32, int32_t, 0, ^)
BITS(xor_i64, int64_t, 0, ^)
BITS(or_i32, int32_t, 0, |)
BITS(or_i64, int64_t, 0, |)

/* Loops differ only in the comparison. Comparisons with NaN are false, so NaNs are skipped and counted. A fold waits
 * for the one before, so LANES folds run side by side. */
#define EXTREME(name, member, sign)                                                                                    \
    CPU_CLONES static void name(struct agg_state *state, const void *values, int count)                                \
    {                                                                                                                  \
        enum { LANES = 32 };                                                                                           \
        const double *a = values;                                                                                      \
        double best[LANES];                                                                                            \
        int64_t nans[LANES] = {0}, nan_count = 0;                                                                      \
        int i = 0;                                                                                                     \
        for (int k = 0; k < LANES; k++)                                                                                \
            best[k] = state->member;                                                                                   \
        for (; i + LANES <= count; i += LANES) {                                                                       \
            for (int k = 0; k < LANES; k++) {                                                                          \
                best[k] = a[i + k] sign best[k] ? a[i + k] : best[k];                                                  \
                nans[k] += a[i + k] != a[i + k];                                                                       \
            }                                                                                                          \
        }                                                                                                              \
        for (int k = 0; i + k < count; k++) {                                                                          \
            best[k] = a[i + k] sign best[k] ? a[i + k] : best[k];                                                      \
            nans[k] += a[i + k] != a[i + k];                                                                           \
        }                                                                                                              \
        for (int k = 0; k < LANES; k++) {                                                                              \
            state->member = best[k] sign state->member ? best[k] : state->member;                                      \
            nan_count += nans[k];                                                                                      \
        }                                                                                                              \
        state->nans += nan_count;                                                                                      \
        state->count += count - nan_count;                                                                             \
    }
EXTREME(min_f64, flo, <)
EXTREME(max_f64, fhi, >)

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
    static fold_fn *const table[][4] = {
        /* BOOL, I32, I64, F64 */
        [AGG_COUNT] = {fold_count, fold_count, fold_count, fold_count},
        [AGG_SUM] = {NULL, sum_i32, sum_i64, sum_f64},
        [AGG_MEAN] = {NULL, sum_i32, sum_i64, sum_f64},
        [AGG_MIN] = {NULL, min_i32, min_i64, min_f64},
        [AGG_MAX] = {NULL, max_i32, max_i64, max_f64},
        [AGG_PRODUCT] = {NULL, add_i32, add_i64, add_f64},
        [AGG_BITAND] = {NULL, and_i32, and_i64, NULL},
        [AGG_XOR] = {NULL, xor_i32, xor_i64, NULL},
        [AGG_BITOR] = {NULL, or_i32, or_i64, NULL},
        [AGG_FOLD] = {NULL, NULL, NULL, add_f64},
    };
    fold_fn *fold = table[kind][lane];
    return fold == sum_i64 && exact_in_64 ? sum_small_i64 : fold;
}
