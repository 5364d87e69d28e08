#include "engine/sorting/sort_key_range.h"

#include "base/cpu_dispatch.h"

#include <math.h>
#include <string.h>

enum { LANES = 32, BLOCK = 1024 };

/* The loops have several lanes, so that comparisons do not depend on each other; `count` is a multiple of LANES. */
#define INTEGERS(type, TYPE)                                                                                           \
    CPU_CLONES static void range_of_##type(struct key_range *range, const void *elements, int64_t count)               \
    {                                                                                                                  \
        const type##_t *values = elements;                                                                             \
        type##_t least[LANES], most[LANES];                                                                            \
        for (int k = 0; k < LANES; k++) {                                                                              \
            least[k] = TYPE##_MAX;                                                                                     \
            most[k] = TYPE##_MIN;                                                                                      \
        }                                                                                                              \
        for (int64_t i = 0; i < count; i += LANES) {                                                                   \
            for (int k = 0; k < LANES; k++) {                                                                          \
                least[k] = values[i + k] < least[k] ? values[i + k] : least[k];                                        \
                most[k] = values[i + k] > most[k] ? values[i + k] : most[k];                                           \
            }                                                                                                          \
        }                                                                                                              \
        for (int k = 0; k < LANES; k++) {                                                                              \
            const struct key_range lane = {.least = (uint64_t)least[k] ^ UINT64_C(1) << 63,                            \
                                           .most = (uint64_t)most[k] ^ UINT64_C(1) << 63,                              \
                                           .nan_and = -1};                                                             \
            key_range_merge(range, &lane);                                                                             \
        }                                                                                                              \
    }
INTEGERS(int32, INT32)
INTEGERS(int64, INT64)
#undef INTEGERS

/* Comparisons with NaN are false. Among integers of the same bits -0.0 is the least. */
#define FLOATS(type, bits, store)                                                                                      \
    CPU_CLONES static void range_of_##type(struct key_range *range, const void *elements, int64_t count)               \
    {                                                                                                                  \
        const type *values = elements;                                                                                 \
        type least[LANES], most[LANES];                                                                                \
        int##bits##_t lowest[LANES], nan_or[LANES], nan_and[LANES];                                                    \
        for (int k = 0; k < LANES; k++) {                                                                              \
            least[k] = (type)INFINITY;                                                                                 \
            most[k] = -(type)INFINITY;                                                                                 \
            lowest[k] = nan_or[k] = 0;                                                                                 \
            nan_and[k] = -1;                                                                                           \
        }                                                                                                              \
        for (int64_t i = 0; i < count; i += LANES) {                                                                   \
            for (int k = 0; k < LANES; k++) {                                                                          \
                const type value = values[i + k];                                                                      \
                int##bits##_t integer;                                                                                 \
                memcpy(&integer, &value, sizeof integer);                                                              \
                least[k] = value < least[k] ? value : least[k];                                                        \
                most[k] = value > most[k] ? value : most[k];                                                           \
                lowest[k] = integer < lowest[k] ? integer : lowest[k];                                                 \
                nan_or[k] |= value != value ? integer : 0;                                                             \
                nan_and[k] &= value != value ? integer : -1;                                                           \
            }                                                                                                          \
        }                                                                                                              \
        uint64_t low[LANES], high[LANES];                                                                              \
        sort_key_encode(least, store, NULL, LANES, low);                                                               \
        sort_key_encode(most, store, NULL, LANES, high);                                                               \
        for (int k = 0; k < LANES; k++) {                                                                              \
            const struct key_range lane = {low[k],    high[k],   nan_or[k] != 0, lowest[k] == INT##bits##_MIN,         \
                                           nan_or[k], nan_and[k]};                                                     \
            key_range_merge(range, &lane);                                                                             \
        }                                                                                                              \
    }
FLOATS(float, 32, TYPE_F32)
FLOATS(double, 64, TYPE_F64)
#undef FLOATS

void key_range_merge(struct key_range *range, const struct key_range *other)
{
    range->least = other->least < range->least ? other->least : range->least;
    range->most = other->most > range->most ? other->most : range->most;
    range->nan = range->nan || other->nan;
    range->negative_zero = range->negative_zero || other->negative_zero;
    range->nan_or |= other->nan_or;
    range->nan_and &= other->nan_and;
}

CPU_CLONES static void range_of_images(struct key_range *range, const uint64_t *images, int count)
{
    uint64_t least = range->least, most = range->most;
    for (int i = 0; i < count; i++) {
        least = images[i] < least ? images[i] : least;
        most = images[i] > most ? images[i] : most;
    }
    range->least = least;
    range->most = most;
}

void key_range_extend(struct key_range *range, const void *elements, enum type store, int64_t count)
{
    static void (*const loops[TYPE_COUNT])(struct key_range *, const void *, int64_t) = {[TYPE_I32] = range_of_int32,
                                                                                         [TYPE_I64] = range_of_int64,
                                                                                         [TYPE_F32] = range_of_float,
                                                                                         [TYPE_F64] = range_of_double};
    const size_t size = type_table[store].size;
    const char *from = elements;
    if (loops[store]) {
        const int64_t whole = count - count % LANES;
        double rest[LANES]; /* the widest elements */
        if (whole > 0)
            loops[store](range, from, whole);
        for (int k = 0; k < LANES && whole < count; k++) /* the last elements, several times */
            memcpy((char *)rest + (size_t)k * size, from + (size_t)(whole + k % (count - whole)) * size, size);
        if (whole < count)
            loops[store](range, rest, LANES);
        return;
    }
    uint64_t images[BLOCK];
    for (int64_t i = 0; i < count; i += BLOCK) {
        const int in_block = count - i < BLOCK ? (int)(count - i) : BLOCK;
        sort_key_encode(from + (size_t)i * size, store, NULL, in_block, images);
        range_of_images(range, images, in_block);
    }
}
