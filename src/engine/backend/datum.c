#include "engine/backend/datum.h"

union datum datum_of_const(const struct instr *instr)
{
    if (instr->kind == KIND_FLOAT)
        return (union datum){.number = instr->number};
    return (union datum){.integer = instr->integer};
}

union datum datum_of_scalar(const struct scalar *scalar)
{
    if (scalar->kind == KIND_FLOAT)
        return (union datum){.number = scalar->number};
    return (union datum){.integer = (int64_t)scalar->integer};
}

struct scalar datum_scalar(union datum datum, enum kind kind)
{
    switch (kind) {
    case KIND_FLOAT:
        return scalar_float(datum.number);
    case KIND_BOOL:
        return scalar_bool(datum.integer != 0);
    case KIND_INT:
        break;
    }
    return scalar_int(datum.integer);
}

union datum column_get_datum(const struct column *column, int64_t row)
{
    if (type_table[column->store].kind == KIND_FLOAT)
        return (union datum){.number = column_get_float(column, row)};
    return (union datum){.integer = column_get_int(column, row)};
}

void column_set_datum(struct column *column, int64_t row, union datum datum)
{
    void *at = column_at(column, row);
    switch (column->store) {
#define INTEGER_TYPE(type, element, ...)                                                                               \
    case TYPE_##type:                                                                                                  \
        *(element *)at = (element)datum.integer;                                                                       \
        break;
#define FLOAT_TYPE(type, element, ...)                                                                                 \
    case TYPE_##type:                                                                                                  \
        *(element *)at = (element)datum.number;                                                                        \
        break;
#include "engine/values/types.def"
    case TYPE_COUNT:
        break;
    }
}

bool datum_operate(enum op op, enum kind argument_kind, union datum a, union datum b, union datum *result)
{
    if (op == OP_TO_FLOAT)
        result->number = (double)a.integer;
    else if (op == OP_FLOAT_BITS)
        result->integer = float_bits(a.number);
    else if (op == OP_TO_INT)
        return float_to_int(a.number, &result->integer);
    else if (op == OP_CMP_INT_FLOAT)
        result->integer = compare_int_float(a.integer, b.number);
    else if (argument_kind != KIND_FLOAT)
        return int_op(op, a.integer, b.integer, &result->integer);
    else if (op_table[op].result == OP_RESULT_BOOL)
        result->integer = float_compare(op, a.number, b.number);
    else
        result->number = float_op(op, a.number, b.number);
    return true;
}
