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
    CONVERT_SECONDS,
    CONVERT_MILLIS,
    CONVERT_NANOS,
    CONVERT_INT96, /* nanoseconds of a day and the Julian day */
    CONVERT_FLOAT16,
    CONVERT_BIG_ENDIAN, /* bytes in two's complement to i64 */
    CONVERT_TEXT,
    CONVERT_UUID
};

struct leaf {
    size_t index;       /* among the leaves of the schema */
    const char *path;   /* its name behind those of the groups that it is in */
    uint8_t definition; /* the level of a value that is there; 0: none is missing */
    uint8_t repetition; /* how many lists it is in, and for each, from 1, the definition level of an element: */
    const uint8_t *element_levels;
    enum physical physical;
    size_t width; /* bytes of a stored value; bools: 0, byte arrays: 0 */
    bool binary;  /* nothing says that the bytes are text */
    enum conversion conversion;
    enum type type; /* of the column; text: TYPE_U32 */
    struct logical_type logical;
};

/* Why a column is left out. */
enum leaf_problem {
    LEAF_OK,
    LEAF_TOO_DEEP,
    LEAF_UNSUPPORTED_TYPE,
    LEAF_NOT_TEXT, /* bytes without a meaning */
    LEAF_UNKNOWN_ENCODING,
    LEAF_UNKNOWN_CODEC,
    LEAF_ELSEWHERE, /* in another file */
    LEAF_PROBLEM_COUNT
};

/* Describes what the values of an element are; where it is in the schema is the caller's. */
enum leaf_problem leaf_of_element(const struct schema_element *element, struct leaf *leaf);

#endif
