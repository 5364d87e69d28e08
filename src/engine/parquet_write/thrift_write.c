#include "engine/parquet/thrift.h"

enum { SHORT_STEP = 15, SHORT_LIST = 15 };

static void put_byte(struct thrift_out *out, unsigned byte)
{
    strbuf_putc(out->to, (char)byte);
}

static void put_varint(struct thrift_out *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put_byte(out, (value & 0x7f) | 0x80);
    put_byte(out, (unsigned)value);
}

static void put_zigzag(struct thrift_out *out, int64_t value)
{
    put_varint(out, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static void put_field(struct thrift_out *out, int id, enum thrift_type type)
{
    const int step = id - out->last;
    out->last = id;
    if (step <= SHORT_STEP) {
        put_byte(out, (unsigned)step << 4 | type);
        return;
    }
    put_byte(out, type);
    put_zigzag(out, id);
}

void thrift_put_int8(struct thrift_out *out, int id, int8_t value)
{
    put_field(out, id, THRIFT_I8);
    put_byte(out, (uint8_t)value);
}

void thrift_put_int32(struct thrift_out *out, int id, int32_t value)
{
    put_field(out, id, THRIFT_I32);
    put_zigzag(out, value);
}

void thrift_put_int64(struct thrift_out *out, int id, int64_t value)
{
    put_field(out, id, THRIFT_I64);
    put_zigzag(out, value);
}

void thrift_put_bool(struct thrift_out *out, int id, bool value)
{
    put_field(out, id, value ? THRIFT_TRUE : THRIFT_FALSE);
}

void thrift_put_binary(struct thrift_out *out, int id, const void *bytes, size_t length)
{
    put_field(out, id, THRIFT_BINARY);
    thrift_add_binary(out, bytes, length);
}

void thrift_put_list(struct thrift_out *out, int id, enum thrift_type element, size_t count)
{
    put_field(out, id, THRIFT_LIST);
    if (count < SHORT_LIST) {
        put_byte(out, (unsigned)count << 4 | element);
        return;
    }
    put_byte(out, SHORT_LIST << 4 | element);
    put_varint(out, count);
}

struct thrift_out thrift_put_struct(struct thrift_out *out, int id)
{
    put_field(out, id, THRIFT_STRUCT);
    return (struct thrift_out){.to = out->to};
}

void thrift_end(struct thrift_out *out)
{
    put_byte(out, THRIFT_STOP);
}

void thrift_add_int32(struct thrift_out *out, int32_t value)
{
    put_zigzag(out, value);
}

void thrift_add_binary(struct thrift_out *out, const void *bytes, size_t length)
{
    put_varint(out, length);
    strbuf_add(out->to, bytes, length);
}
