/* One value of typed code, where values are computed one at a time: by the exact evaluator and by user_reduce.c. */
#ifndef RQL_ENGINE_BACKEND_DATUM_H
#define RQL_ENGINE_BACKEND_DATUM_H

#include "engine/plan/code.h"
#include "engine/storage/column.h"

union datum {
    int64_t integer; /* ints and bools */
    double number;
};

union datum datum_of_const(const struct instr *instr);
union datum datum_of_scalar(const struct scalar *scalar); /* an integer that fits 64 bits */
struct scalar datum_scalar(union datum datum, enum kind kind);

union datum column_get_datum(const struct column *column, int64_t row);

/* Writes an element; the value must be one that the column's `store` can hold. */
void column_set_datum(struct column *column, int64_t row, union datum datum);

/* Computes an operation other than &&, ||, ?: and GATHER; false if it has no result. */
bool datum_operate(enum op op, enum kind argument_kind, union datum a, union datum b, union datum *result);

#endif
