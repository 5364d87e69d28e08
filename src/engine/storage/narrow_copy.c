#include "engine/storage/narrow_copy.h"

enum { BLOCK_ROWS = 1 << 16 }; /* between checks of *stop */

enum type narrow_type(enum type store, int64_t lo, int64_t hi)
{
    /* From narrowest to widest. */
    static const enum type types[] = {TYPE_I8, TYPE_U8, TYPE_I16, TYPE_U16, TYPE_I32, TYPE_U32};
    const struct type_info *now = &type_table[store];
    for (size_t i = 0; i < sizeof types / sizeof *types && now->kind == KIND_INT; i++) {
        const struct type_info *info = &type_table[types[i]];
        if (info->size < now->size && info->lo <= lo && info->hi >= hi)
            return types[i];
    }
    return store;
}

/* A value that fits keeps its low bytes, whatever the signs of the types. */
#define PAIRS(P)                                                                                                       \
    P(uint16_t, uint8_t)                                                                                               \
    P(uint32_t, uint8_t)                                                                                               \
    P(uint32_t, uint16_t)                                                                                              \
    P(uint64_t, uint8_t)                                                                                               \
    P(uint64_t, uint16_t)                                                                                              \
    P(uint64_t, uint32_t)

#define DEFINE(from_type, to_type)                                                                                     \
    static void from_type##_to_##to_type(const void *from, void *to, int64_t count)                                    \
    {                                                                                                                  \
        const from_type *restrict in = from;                                                                           \
        to_type *restrict out = to;                                                                                    \
        for (int64_t i = 0; i < count; i++)                                                                            \
            out[i] = (to_type)in[i];                                                                                   \
    }
PAIRS(DEFINE)

typedef void narrow_fn(const void *from, void *to, int64_t count);

static narrow_fn *narrow_function(size_t from, size_t to)
{
#define ROW(from_type, to_type) [sizeof(from_type)][sizeof(to_type)] = from_type##_to_##to_type,
    static narrow_fn *const table[sizeof(int64_t) + 1][sizeof(int64_t) + 1] = {PAIRS(ROW)};
#undef ROW
    return table[from][to];
}

struct column *narrow_copy(const struct column *column, enum type store, int64_t lo, int64_t hi,
                           struct buffer_pool *pool, const atomic_bool *stop)
{
    const size_t size = type_table[column->store].size;
    struct column *copy = column_reserve_from(pool, column->type, store, column->rows);
    if (!copy)
        return NULL;
    narrow_fn *narrow = narrow_function(size, type_table[store].size);
    for (int64_t row = 0; row < column->rows; row += BLOCK_ROWS) {
        if (stop && *stop) {
            column_unref(copy);
            return NULL;
        }
        const int64_t count = column->rows - row < BLOCK_ROWS ? column->rows - row : BLOCK_ROWS;
        narrow((const char *)column->data + (size_t)row * size, column_at(copy, row), count);
    }
    column_set_range(copy, column->rows > 0, lo, hi);
    column_finish(copy, column->rows);
    return copy;
}
