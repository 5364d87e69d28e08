#include "engine/values/types.h"

const struct type_info type_table[TYPE_COUNT] = {
    [TYPE_BOOL] = {"bool", 1, KIND_BOOL, 0, 1, ".u8", "uchar"},
    [TYPE_I8] = {"i8", 1, KIND_INT, INT8_MIN, INT8_MAX, ".i8", "char"},
    [TYPE_I16] = {"i16", 2, KIND_INT, INT16_MIN, INT16_MAX, ".i16", "short"},
    [TYPE_I32] = {"i32", 4, KIND_INT, INT32_MIN, INT32_MAX, ".i32", "int"},
    [TYPE_I64] = {"i64", 8, KIND_INT, INT64_MIN, INT64_MAX, ".i64", "long"},
    [TYPE_U8] = {"u8", 1, KIND_INT, 0, UINT8_MAX, ".u8", "uchar"},
    [TYPE_U16] = {"u16", 2, KIND_INT, 0, UINT16_MAX, ".u16", "ushort"},
    [TYPE_U32] = {"u32", 4, KIND_INT, 0, UINT32_MAX, ".u32", "uint"},
    [TYPE_F32] = {"f32", 4, KIND_FLOAT, 0, 0, ".f32", "float"},
    [TYPE_F64] = {"f64", 8, KIND_FLOAT, 0, 0, ".f64", "double"},
};

enum type type_of_kind(enum kind kind)
{
    static const enum type computed[] = {[KIND_BOOL] = TYPE_BOOL, [KIND_INT] = TYPE_I64, [KIND_FLOAT] = TYPE_F64};
    return computed[kind];
}
