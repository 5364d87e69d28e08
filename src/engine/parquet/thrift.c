#include "engine/parquet/thrift.h"

#include "engine/parquet/encodings.h"

enum { MAX_DEPTH = 16, LONG_LIST = 15 };

static uint64_t fail(struct thrift *in)
{
    in->failed = true;
    in->at = in->end;
    return 0;
}

static uint8_t read_byte(struct thrift *in)
{
    return in->at < in->end ? *in->at++ : (uint8_t)fail(in);
}

static uint64_t read_varint(struct thrift *in)
{
    uint64_t value;
    return varint_read(&in->at, in->end, &value) ? value : fail(in);
}

static int64_t read_zigzag(struct thrift *in)
{
    const uint64_t value = read_varint(in);
    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

bool thrift_next(struct thrift *in, struct thrift_field *field)
{
    const uint8_t head = read_byte(in);
    field->type = head & 0xf;
    if (field->type == THRIFT_STOP)
        return false;
    const int64_t id = head >> 4 ? field->id + (head >> 4) : read_zigzag(in);
    if (id < INT16_MIN || id > INT16_MAX)
        fail(in);
    field->id = id;
    return !in->failed;
}

int64_t thrift_int(struct thrift *in, enum thrift_type type)
{
    if (type < THRIFT_I8 || type > THRIFT_I64)
        return (int64_t)fail(in);
    return type == THRIFT_I8 ? (int8_t)read_byte(in) : read_zigzag(in);
}

int32_t thrift_int32(struct thrift *in, enum thrift_type type)
{
    const int64_t value = thrift_int(in, type);
    if (value < INT32_MIN || value > INT32_MAX)
        return (int32_t)fail(in);
    return (int32_t)value;
}

bool thrift_bool(struct thrift *in, enum thrift_type type)
{
    if (type != THRIFT_TRUE && type != THRIFT_FALSE)
        fail(in);
    return type == THRIFT_TRUE;
}

struct text thrift_binary(struct thrift *in, enum thrift_type type)
{
    uint64_t length = type == THRIFT_BINARY ? read_varint(in) : fail(in);
    if (length > (size_t)(in->end - in->at))
        length = fail(in);
    struct text text = {(const char *)in->at, (size_t)length};
    in->at += length;
    return text;
}

bool thrift_struct(struct thrift *in, enum thrift_type type)
{
    if (type != THRIFT_STRUCT)
        fail(in);
    return !in->failed;
}

/* Reads the header of a list or set. */
static size_t read_list(struct thrift *in, enum thrift_type *element)
{
    const uint8_t head = read_byte(in);
    *element = head & 0xf;
    const uint64_t count = head >> 4 == LONG_LIST ? read_varint(in) : head >> 4;
    /* Every element takes at least a byte. */
    return count > (size_t)(in->end - in->at) ? (size_t)fail(in) : (size_t)count;
}

size_t thrift_list(struct thrift *in, enum thrift_type type, enum thrift_type element)
{
    if (type != THRIFT_LIST)
        return (size_t)fail(in);
    enum thrift_type found;
    const size_t count = read_list(in, &found);
    return count > 0 && found != element ? (size_t)fail(in) : count;
}

static void skip_bytes(struct thrift *in, uint64_t count)
{
    if (count > (size_t)(in->end - in->at))
        fail(in);
    else
        in->at += count;
}

static void skip(struct thrift *in, enum thrift_type type, bool is_element, unsigned depth);

static void skip_elements(struct thrift *in, unsigned depth)
{
    enum thrift_type element;
    const size_t count = read_list(in, &element);
    for (size_t i = 0; i < count && !in->failed; i++)
        skip(in, element, true, depth);
}

static void skip_map(struct thrift *in, unsigned depth)
{
    const uint64_t count = read_varint(in);
    if (count == 0)
        return;
    const uint8_t types = read_byte(in);
    for (uint64_t i = 0; i < count && !in->failed; i++) {
        skip(in, types >> 4, true, depth);
        skip(in, types & 0xf, true, depth);
    }
}

static void skip_struct(struct thrift *in, unsigned depth)
{
    struct thrift_field field = {0};
    while (thrift_next(in, &field))
        skip(in, field.type, false, depth);
}

/* Bools that are elements take a byte, those that are fields none. */
static void skip(struct thrift *in, enum thrift_type type, bool is_element, unsigned depth)
{
    switch (depth < MAX_DEPTH ? type : THRIFT_STOP) {
    case THRIFT_TRUE:
    case THRIFT_FALSE:
        skip_bytes(in, is_element);
        return;
    case THRIFT_I8:
        skip_bytes(in, 1);
        return;
    case THRIFT_I16:
    case THRIFT_I32:
    case THRIFT_I64:
        (void)read_varint(in);
        return;
    case THRIFT_DOUBLE:
        skip_bytes(in, sizeof(double));
        return;
    case THRIFT_BINARY:
        skip_bytes(in, read_varint(in));
        return;
    case THRIFT_LIST:
    case THRIFT_SET:
        skip_elements(in, depth + 1);
        return;
    case THRIFT_MAP:
        skip_map(in, depth + 1);
        return;
    case THRIFT_STRUCT:
        skip_struct(in, depth + 1);
        return;
    case THRIFT_STOP:
        break;
    }
    fail(in);
}

void thrift_skip(struct thrift *in, enum thrift_type type)
{
    skip(in, type, false, 0);
}
