#include "engine/vector/border_rows.h"

#include "base/cpu_dispatch.h"
#include "engine/vector/ahead.h"

typedef void copy_fn(void *out, const void *first, int64_t by, int count, const struct ahead *ahead);

/* One loop for each size of elements. */
#define COPY(name, type)                                                                                               \
    CPU_CLONES static void name(void *out, const void *first, int64_t by, int count, const struct ahead *ahead)        \
    {                                                                                                                  \
        type *restrict to = out;                                                                                       \
        const type *restrict from = first;                                                                             \
        for (int begin = 0, end; begin < count; begin = end) {                                                         \
            end = strip_end(ahead, begin, count);                                                                      \
            const int backwards = by == -1 ? end : begin;                                                              \
            for (int i = begin; i < backwards; i++)                                                                    \
                to[i] = from[-i];                                                                                      \
            for (int i = backwards; i < end; i++)                                                                      \
                to[i] = from[i * by];                                                                                  \
        }                                                                                                              \
    }
COPY(copy_1, uint8_t)
COPY(copy_2, uint16_t)
COPY(copy_4, uint32_t)
COPY(copy_8, uint64_t)
#undef COPY

/* The elements that the next rows read going backwards, which lie before these. */
static struct ahead before(const char *first, size_t bytes, int64_t elements_before, int count)
{
    const int strips = (count + STRIP_ROWS - 1) / STRIP_ROWS;
    if (elements_before < 2 * (int64_t)count)
        return (struct ahead){0};
    return (struct ahead){.at = first - 2 * bytes,
                          .lines = (int)((bytes / CACHE_LINE + (size_t)strips) / (size_t)strips)};
}

const void *progression_rows(const struct column *column, const struct progression *progression, int64_t row, int count,
                             void *out)
{
    static copy_fn *const copies[] = {[1] = copy_1, [2] = copy_2, [4] = copy_4, [8] = copy_8};
    const size_t size = type_table[column->store].size;
    const int64_t at = progression->first + row * progression->by;
    const char *first = (const char *)column->data + (size_t)at * size;
    if (progression->by == 1)
        return first;
    const struct ahead ahead =
        progression->by == -1 ? before(first, (size_t)count * size, at, count) : (struct ahead){0};
    copies[size](out, first, progression->by, count, &ahead);
    return out;
}
