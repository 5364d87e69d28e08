/* The columns that a schema describes: what their values become, and how they are converted. */
#ifndef RQL_ENGINE_PARQUET_LEAF_H
#define RQL_ENGINE_PARQUET_LEAF_H

#include "engine/parquet/footer.h"
#include "engine/values/logical_type.h"

enum conversion {
    CONVERT_COPY, /* values are stored as they are needed */
    CONVERT_BITS, /* of bools to bytes */
    CONVERT_NARROW_I8,
    CONVERT_NARROW_I16,
    CONVERT_NARROW_U8,
    CONVERT_NARROW_U16,
    CONVERT_WIDEN,        /* i32 to i64 */
    CONVERT_WIDEN_MILLIS, /* i32 milliseconds to i64 microseconds */
    CONVERT_U64,
    CONVERT_MILLIS,
    CONVERT_NANOS,
    CONVERT_INT96, /* nanoseconds of a day and the Julian day */
    CONVERT_FLOAT16,
    CONVERT_BIG_ENDIAN, /* bytes in two's complement to i64 */
    CONVERT_TEXT,
    CONVERT_UUID
};

struct leaf {
    size_t index; /* among the leaves of the schema */
    struct text name;
    enum physical physical;
    size_t width; /* bytes of a stored value; bools: 0, byte arrays: 0 */
    bool optional;
    bool binary; /* nothing says that the bytes are text */
    enum conversion conversion;
    enum type type; /* of the column; text: TYPE_U32 */
    struct logical_type logical;
};

/* Why a column is left out. */
enum leaf_problem {
    LEAF_OK,
    LEAF_NESTED,
    LEAF_UNSUPPORTED_TYPE,
    LEAF_NOT_TEXT, /* bytes without a meaning */
    LEAF_UNKNOWN_ENCODING,
    LEAF_UNKNOWN_CODEC,
    LEAF_ELSEWHERE, /* in another file */
    LEAF_PROBLEM_COUNT
};

/* Describes the leaf, a child of the root. */
enum leaf_problem leaf_of_element(const struct schema_element *element, struct leaf *leaf);

#endif
