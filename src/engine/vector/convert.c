/* Vectors from and to columns: widening, narrowing, and selecting the rows that passed. */
#include "engine/vector/ops.h"

#include "base/cpu_dispatch.h"
#include "engine/vector/selection.h"

/* All pairs of types that values move between: stored to lane, and lane to lane or stored. */
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
    /* elements that are only copied */                                                                                \
    M(I8, int8_t, I8, int8_t)                                                                                          \
    M(I16, int16_t, I16, int16_t)                                                                                      \
    M(U8, uint8_t, U8, uint8_t)                                                                                        \
    M(U16, uint16_t, U16, uint16_t)                                                                                    \
    M(U32, uint32_t, U32, uint32_t)                                                                                    \
    M(F32, float, F32, float)

#define DEFINE(from, from_type, to, to_type)                                                                           \
    CPU_CLONES static bool move_##from##_##to(const struct operands *o, int count)                                     \
    {                                                                                                                  \
        to_type *restrict out = o->out;                                                                                \
        const from_type *restrict a = o->a;                                                                            \
        for (int begin = 0, end; begin < count; begin = end) {                                                         \
            end = strip_end(&o->ahead, begin, count);                                                                  \
            for (int i = begin; i < end; i++)                                                                          \
                out[i] = (to_type)a[i];                                                                                \
        }                                                                                                              \
        return false;                                                                                                  \
    }                                                                                                                  \
    CPU_CLONES static bool select_##from##_##to(const struct operands *o, int count)                                   \
    {                                                                                                                  \
        to_type *restrict out = o->out;                                                                                \
        const from_type *restrict a = o->a;                                                                            \
        const uint16_t *restrict index = o->index;                                                                     \
        for (int begin = 0, end; begin < count; begin = end) {                                                         \
            end = strip_end(&o->ahead, begin, count);                                                                  \
            for (int i = begin; i < end; i++)                                                                          \
                out[i] = (to_type)a[index[i]];                                                                         \
        }                                                                                                              \
        return false;                                                                                                  \
    }                                                                                                                  \
    CPU_CLONES static bool gather_##from##_##to(const struct operands *o, int count)                                   \
    {                                                                                                                  \
        to_type *restrict out = o->out;                                                                                \
        const int64_t *restrict positions = o->a;                                                                      \
        const from_type *restrict elements = o->whole->data;                                                           \
        const uint64_t rows = (uint64_t)o->whole->rows;                                                                \
        const int differing = o->uniform && count > 0 ? 1 : count;                                                     \
        uint64_t any = 0;                                                                                              \
        for (int i = 0; i < differing; i++)                                                                            \
            any |= (uint64_t)positions[i] >= rows;                                                                     \
        for (int i = 0; i < count && !any && differing == 1; i++)                                                      \
            out[i] = (to_type)elements[positions[0]];                                                                  \
        for (int i = 0; i < count && !any && differing > 1; i++)                                                       \
            out[i] = (to_type)elements[positions[i]];                                                                  \
        for (int i = 0; i < count && any; i++) {                                                                       \
            const bool bad = (uint64_t)positions[i] >= rows;                                                           \
            out[i] = bad ? (to_type)0 : (to_type)elements[positions[i]];                                               \
            o->fail[i] = bad;                                                                                          \
        }                                                                                                              \
        return any;                                                                                                    \
    }
MOVES(DEFINE)
#undef DEFINE

/* The function of each pair, by the types. */
#define MOVE_ROW(from, from_type, to, to_type)   [TYPE_##from][TYPE_##to] = move_##from##_##to,
#define SELECT_ROW(from, from_type, to, to_type) [TYPE_##from][TYPE_##to] = select_##from##_##to,
#define GATHER_ROW(from, from_type, to, to_type) [TYPE_##from][TYPE_##to] = gather_##from##_##to,
static vector_fn *const moves[TYPE_COUNT][TYPE_COUNT] = {MOVES(MOVE_ROW)};
static vector_fn *const selects[TYPE_COUNT][TYPE_COUNT] = {MOVES(SELECT_ROW)};
static vector_fn *const gathers[TYPE_COUNT][TYPE_COUNT] = {MOVES(GATHER_ROW)};

vector_fn *vector_move(enum type from, enum type to)
{
    return moves[from][to];
}

vector_fn *vector_gather(enum type from, enum type to)
{
    return gathers[from][to];
}

/* Elements whose type does not change, by size. */
static bool pack(const struct operands *o, int count, size_t size, vector_fn *select)
{
    if (!o->mask)
        return select(o, count);
    selection_packer(size)(o->out, o->a, o->mask, o->rows, &o->ahead);
    return false;
}

#define PACK(size, type)                                                                                               \
    static bool pack_##size(const struct operands *o, int count)                                                       \
    {                                                                                                                  \
        return pack(o, count, size, select_##type##_##type);                                                           \
    }
PACK(1, U8)
PACK(2, U16)
PACK(4, U32)
PACK(8, I64)

bool vector_packs(enum type from, enum type to)
{
    return from == to && selection_packer(type_table[from].size);
}

vector_fn *vector_selected_move(enum type from, enum type to)
{
    static vector_fn *const packs[] = {[1] = pack_1, [2] = pack_2, [4] = pack_4, [8] = pack_8};
    return vector_packs(from, to) ? packs[type_table[from].size] : selects[from][to];
}

/* Row numbers, of all rows of a block or of the selected ones. */
#define ROWS(name, type, within)                                                                                       \
    CPU_CLONES static bool name(const struct operands *o, int count)                                                   \
    {                                                                                                                  \
        type *restrict out = o->out;                                                                                   \
        for (int i = 0; i < count; i++)                                                                                \
            out[i] = (type)o->row + (within);                                                                          \
        return false;                                                                                                  \
    }
ROWS(row_i32, int32_t, i)
ROWS(row_i64, int64_t, i)
ROWS(selected_row_i32, int32_t, o->index[i])
ROWS(selected_row_i64, int64_t, o->index[i])

vector_fn *vector_row(enum lane lane)
{
    return lane == LANE_I32 ? row_i32 : row_i64;
}

vector_fn *vector_selected_row(enum lane lane)
{
    return lane == LANE_I32 ? selected_row_i32 : selected_row_i64;
}

enum type lane_type(enum lane lane)
{
    static const enum type types[] = {
        [LANE_BOOL] = TYPE_BOOL, [LANE_I32] = TYPE_I32, [LANE_I64] = TYPE_I64, [LANE_F64] = TYPE_F64};
    return types[lane];
}
