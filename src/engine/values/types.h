/* Types of columns and of values computed from them. The table is types.def. */
#ifndef RQL_ENGINE_VALUES_TYPES_H
#define RQL_ENGINE_VALUES_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The storage type of a column's elements, little-endian. TYPE_BOOL: one byte, 0 or 1; of computed columns only. */
enum type {
#define INTEGER_TYPE(type, ...) TYPE_##type,
#define FLOAT_TYPE(type, ...)   TYPE_##type,
#include "engine/values/types.def"
    TYPE_COUNT
};

/* What an expression computes with: integers are mathematically 64-bit, floats are f64. */
enum kind { KIND_BOOL, KIND_INT, KIND_FLOAT };

struct type_info {
    const char *name; /* "i32" */
    size_t size;      /* of an element, in bytes */
    enum kind kind;
    int64_t lo, hi;        /* the integers it holds; 0..1 for bool, 0..0 for floats */
    const char *extension; /* of a raw file with such elements: ".i32"; a bool column is saved as ".u8" */
    const char *cl;        /* the OpenCL C type it is stored as: "int" */
    const char *numpy;     /* "<i4", as in the header of a .npy file */
    const char *server;    /* ClickHouse's name: "Int32" */
};

extern const struct type_info type_table[TYPE_COUNT];

/* The type of computed columns of this kind: bool, i64, f64. */
enum type type_of_kind(enum kind kind);

#endif
