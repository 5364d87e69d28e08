/* Vectors into and out of columns: widening, narrowing, and picking the rows that passed. */
#include "eval_ops.h"

#include <string.h>

/* Every pair of types that values move between: stored to lane, and lane to lane, which is how computed columns are
 * stored. */
#define MOVES(M)                                                                                                       \
    M(BOOL, uint8_t, BOOL, uint8_t)                                                                                    \
    M(BOOL, uint8_t, I32, int32_t)                                                                                     \
    M(I8, int8_t, I32, int32_t)                                                                                        \
    M(I16, int16_t, I32, int32_t)                                                                                      \
    M(I32, int32_t, I32, int32_t)                                                                                      \
    M(I64, int64_t, I32, int32_t)                                                                                      \
    M(U8, uint8_t, I32, int32_t)                                                                                       \
    M(U16, uint16_t, I32, int32_t)                                                                                     \
    M(U32, uint32_t, I32, int32_t)                                                                                     \
    M(BOOL, uint8_t, I64, int64_t)                                                                                     \
    M(I8, int8_t, I64, int64_t)                                                                                        \
    M(I16, int16_t, I64, int64_t)                                                                                      \
    M(I32, int32_t, I64, int64_t)                                                                                      \
    M(I64, int64_t, I64, int64_t)                                                                                      \
    M(U8, uint8_t, I64, int64_t)                                                                                       \
    M(U16, uint16_t, I64, int64_t)                                                                                     \
    M(U32, uint32_t, I64, int64_t)                                                                                     \
    M(I32, int32_t, F64, double)                                                                                       \
    M(I64, int64_t, F64, double)                                                                                       \
    M(F32, float, F64, double)                                                                                         \
    M(F64, double, F64, double)                                                                                        \
    /* elements of a column that only pass through */                                                                  \
    M(I8, int8_t, I8, int8_t)                                                                                          \
    M(I16, int16_t, I16, int16_t)                                                                                      \
    M(U8, uint8_t, U8, uint8_t)                                                                                        \
    M(U16, uint16_t, U16, uint16_t)                                                                                    \
    M(U32, uint32_t, U32, uint32_t)                                                                                    \
    M(F32, float, F32, float)

#define DEFINE(from, from_type, to, to_type)                                                                           \
    static bool move_##from##_##to(const struct operands *o, int count)                                                \
    {                                                                                                                  \
        to_type *restrict out = o->out;                                                                                \
        const from_type *restrict a = o->a;                                                                            \
        for (int i = 0; i < count; i++)                                                                                \
            out[i] = (to_type)a[i];                                                                                    \
        return false;                                                                                                  \
    }                                                                                                                  \
    static bool pick_##from##_##to(const struct operands *o, int count)                                                \
    {                                                                                                                  \
        to_type *restrict out = o->out;                                                                                \
        const from_type *restrict a = o->a;                                                                            \
        const uint16_t *restrict index = o->index;                                                                     \
        for (int i = 0; i < count; i++)                                                                                \
            out[i] = (to_type)a[index[i]];                                                                             \
        return false;                                                                                                  \
    }                                                                                                                  \
    static bool gather_##from##_##to(const struct operands *o, int count)                                              \
    {                                                                                                                  \
        to_type *restrict out = o->out;                                                                                \
        const int64_t *restrict positions = o->a;                                                                      \
        const from_type *restrict elements = o->whole->data;                                                           \
        const uint64_t rows = (uint64_t)o->whole->rows;                                                                \
        uint8_t any = 0;                                                                                               \
        for (int i = 0; i < count; i++) {                                                                              \
            const bool bad = (uint64_t)positions[i] >= rows;                                                           \
            out[i] = bad ? (to_type)0 : (to_type)elements[positions[i]];                                               \
            o->fail[i] = bad;                                                                                          \
            any |= bad;                                                                                                \
        }                                                                                                              \
        return any;                                                                                                    \
    }
MOVES(DEFINE)
#undef DEFINE

vector_fn *vector_move(enum type from, enum type to)
{
#define ROW(from, from_type, to, to_type) [TYPE_##from][TYPE_##to] = move_##from##_##to,
    static vector_fn *const table[TYPE_COUNT][TYPE_COUNT] = {MOVES(ROW)};
#undef ROW
    return table[from][to];
}

vector_fn *vector_picked_move(enum type from, enum type to)
{
#define ROW(from, from_type, to, to_type) [TYPE_##from][TYPE_##to] = pick_##from##_##to,
    static vector_fn *const table[TYPE_COUNT][TYPE_COUNT] = {MOVES(ROW)};
#undef ROW
    return table[from][to];
}

vector_fn *vector_gather(enum type from, enum type to)
{
#define ROW(from, from_type, to, to_type) [TYPE_##from][TYPE_##to] = gather_##from##_##to,
    static vector_fn *const table[TYPE_COUNT][TYPE_COUNT] = {MOVES(ROW)};
#undef ROW
    return table[from][to];
}

static bool row_i32(const struct operands *o, int count)
{
    int32_t *restrict out = o->out;
    for (int i = 0; i < count; i++)
        out[i] = (int32_t)o->row + i;
    return false;
}

static bool row_i64(const struct operands *o, int count)
{
    int64_t *restrict out = o->out;
    for (int i = 0; i < count; i++)
        out[i] = o->row + i;
    return false;
}

static bool picked_row_i32(const struct operands *o, int count)
{
    int32_t *restrict out = o->out;
    for (int i = 0; i < count; i++)
        out[i] = (int32_t)o->row + o->index[i];
    return false;
}

static bool picked_row_i64(const struct operands *o, int count)
{
    int64_t *restrict out = o->out;
    for (int i = 0; i < count; i++)
        out[i] = o->row + o->index[i];
    return false;
}

vector_fn *vector_row(enum lane lane)
{
    return lane == LANE_I32 ? row_i32 : row_i64;
}

vector_fn *vector_picked_row(enum lane lane)
{
    return lane == LANE_I32 ? picked_row_i32 : picked_row_i64;
}

enum type lane_type(enum lane lane)
{
    static const enum type types[] = {
        [LANE_BOOL] = TYPE_BOOL, [LANE_I32] = TYPE_I32, [LANE_I64] = TYPE_I64, [LANE_F64] = TYPE_F64};
    return types[lane];
}
