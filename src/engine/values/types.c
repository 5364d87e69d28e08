#include "engine/values/types.h"

const struct type_info type_table[TYPE_COUNT] = {
#define INTEGER_TYPE(type, element, name, ...) [TYPE_##type] = {name, sizeof(element), __VA_ARGS__},
#define FLOAT_TYPE(type, element, name, ...)   [TYPE_##type] = {name, sizeof(element), __VA_ARGS__},
#include "engine/values/types.def"
};

enum type type_of_kind(enum kind kind)
{
    static const enum type computed[] = {[KIND_BOOL] = TYPE_BOOL, [KIND_INT] = TYPE_I64, [KIND_FLOAT] = TYPE_F64};
    return computed[kind];
}
