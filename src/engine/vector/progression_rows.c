#include "engine/vector/progression_rows.h"

#include "base/cpu_dispatch.h"

typedef void copy_fn(void *out, const void *first, int64_t by, int count);

/* One loop for each size of elements. */
#define COPY(name, type)                                                                                               \
    CPU_CLONES static void name(void *out, const void *first, int64_t by, int count)                                   \
    {                                                                                                                  \
        type *restrict to = out;                                                                                       \
        const type *restrict from = first;                                                                             \
        const int backwards = by == -1 ? count : 0;                                                                    \
        for (int i = 0; i < backwards; i++)                                                                            \
            to[i] = from[-i];                                                                                          \
        for (int i = backwards; i < count; i++)                                                                        \
            to[i] = from[i * by];                                                                                      \
    }
COPY(copy_1, uint8_t)
COPY(copy_2, uint16_t)
COPY(copy_4, uint32_t)
COPY(copy_8, uint64_t)
#undef COPY

const void *progression_rows(const struct column *column, const struct progression *progression, int64_t row, int count,
                             void *out)
{
    static copy_fn *const copies[] = {[1] = copy_1, [2] = copy_2, [4] = copy_4, [8] = copy_8};
    const size_t size = type_table[column->store].size;
    const int64_t at = progression->first + row * progression->by;
    const char *first = (const char *)column->data + (size_t)at * size;
    if (progression->by == 1)
        return first;
    copies[size](out, first, progression->by, count);
    return out;
}
