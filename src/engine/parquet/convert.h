/* Values as stored in a file to values as in columns. */
#ifndef RQL_ENGINE_PARQUET_CONVERT_H
#define RQL_ENGINE_PARQUET_CONVERT_H

#include "engine/parquet/leaf.h"

struct converted {
    int64_t bad;     /* the first value that the column cannot hold, or -1 */
    int64_t floored; /* times that were no whole microseconds */
};

/* Converts `count` values of leaf->width bytes, at any address, to elements of the leaf's type. Not for text, bools and
 * byte arrays of any length. */
struct converted convert_values(const struct leaf *leaf, const void *from, size_t count, void *to);

/* Converts an integer in two's complement, most significant byte first. Returns false if it needs more than 64 bits. */
bool convert_big_endian(const char *bytes, size_t length, int64_t *value);

enum { UUID_TEXT_LENGTH = 36 };

/* 16 bytes as "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", not NUL-terminated. */
void convert_uuid(const char *bytes, char *text);

#endif
