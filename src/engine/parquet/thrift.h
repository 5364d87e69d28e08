/* Reads the compact protocol of Apache Thrift (its specification: thrift-compact-protocol.md), in which Parquet's
 * metadata is written. No input can make it read outside of its bytes, recurse deeply or loop for long. */
#ifndef RQL_ENGINE_PARQUET_THRIFT_H
#define RQL_ENGINE_PARQUET_THRIFT_H

#include "base/strbuf.h"
#include "engine/values/dictionary.h"

/* Types of fields and elements, by their number in the protocol. */
enum thrift_type {
    THRIFT_STOP,
    THRIFT_TRUE,  /* a bool field that is true; in lists: a bool */
    THRIFT_FALSE, /* a bool field that is false */
    THRIFT_I8,
    THRIFT_I16,
    THRIFT_I32,
    THRIFT_I64,
    THRIFT_DOUBLE,
    THRIFT_BINARY,
    THRIFT_LIST,
    THRIFT_SET,
    THRIFT_MAP,
    THRIFT_STRUCT
};

struct thrift {
    const uint8_t *at, *end;
    bool failed; /* the input is malformed; everything read since is 0 */
};

/* A field of a struct; initialise with zeroes before the first. */
struct thrift_field {
    int64_t id;
    enum thrift_type type;
};

/* Reads the header of the next field; false at the end of the struct. The value must then be read or skipped. */
bool thrift_next(struct thrift *in, struct thrift_field *field);

/* Reads the value of a field of this type; another type makes the input malformed. */
int64_t thrift_int(struct thrift *in, enum thrift_type type); /* i8 to i64 */
int32_t thrift_int32(struct thrift *in, enum thrift_type type);
bool thrift_bool(struct thrift *in, enum thrift_type type);
struct text thrift_binary(struct thrift *in, enum thrift_type type); /* within the input */
bool thrift_struct(struct thrift *in, enum thrift_type type);        /* its fields follow */

/* Reads the header of a list with elements of this type and returns their number, which the input has room for. */
size_t thrift_list(struct thrift *in, enum thrift_type type, enum thrift_type element);

void thrift_skip(struct thrift *in, enum thrift_type type);

/* ---- writing ---- */

/* A struct being written; initialise with the output and zeroes. Fields come in ascending order of their ids. */
struct thrift_out {
    struct strbuf *to;
    int last; /* the id of the field before */
};

void thrift_put_int8(struct thrift_out *out, int id, int8_t value);
void thrift_put_int32(struct thrift_out *out, int id, int32_t value);
void thrift_put_int64(struct thrift_out *out, int id, int64_t value);
void thrift_put_bool(struct thrift_out *out, int id, bool value);
void thrift_put_binary(struct thrift_out *out, int id, const void *bytes, size_t length);

/* Begins a list of `count` elements, which follow. */
void thrift_put_list(struct thrift_out *out, int id, enum thrift_type element, size_t count);

/* Begins a struct in a field; as an element of a list it begins by its first field. Both end with thrift_end. */
struct thrift_out thrift_put_struct(struct thrift_out *out, int id);
void thrift_end(struct thrift_out *out);

/* Elements of lists. */
void thrift_add_int32(struct thrift_out *out, int32_t value);
void thrift_add_binary(struct thrift_out *out, const void *bytes, size_t length);

#endif
