/* Writes the compact protocol of Apache Thrift; thrift.h reads it. */
#ifndef RQL_ENGINE_PARQUET_THRIFT_WRITE_H
#define RQL_ENGINE_PARQUET_THRIFT_WRITE_H

#include "base/strbuf.h"
#include "engine/parquet/thrift.h"

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
