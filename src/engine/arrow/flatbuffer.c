#include "engine/arrow/flatbuffer.h"

#include "base/integer.h"

#include <string.h>

enum { OFFSET_BYTES = 4, VTABLE_HEADER = 4, SLOT_BYTES = 2 };

/* Whether bytes at .. at+length-1 are in the buffer; otherwise sets `failed`. */
static bool has_bytes(struct flat_buffer *buffer, size_t at, size_t length)
{
    if (at <= buffer->size && buffer->size - at >= length)
        return true;
    buffer->failed = true;
    return false;
}

/* Sets *target to where the offset at byte `at`, in the buffer, points. */
static bool follow(struct flat_buffer *buffer, size_t at, size_t *target)
{
    *target = at + load_unsigned(buffer->data + at, OFFSET_BYTES);
    return has_bytes(buffer, *target, OFFSET_BYTES);
}

static struct flat_table table_at(struct flat_buffer *buffer, size_t at)
{
    const struct flat_table none = {0};
    const int64_t vtable = (int64_t)at - load_int(buffer->data + at, OFFSET_BYTES);
    if (vtable < 0 || !has_bytes(buffer, (size_t)vtable, VTABLE_HEADER)) {
        buffer->failed = true;
        return none;
    }
    struct flat_table table = {.buffer = buffer, .at = at, .vtable = (size_t)vtable};
    table.vtable_size = load_unsigned(buffer->data + vtable, SLOT_BYTES);
    table.size = load_unsigned(buffer->data + vtable + SLOT_BYTES, SLOT_BYTES);
    return has_bytes(buffer, table.vtable, table.vtable_size) && has_bytes(buffer, at, table.size) ? table : none;
}

struct flat_table flat_root(struct flat_buffer *buffer)
{
    size_t at;
    if (has_bytes(buffer, 0, OFFSET_BYTES) && follow(buffer, 0, &at))
        return table_at(buffer, at);
    return (struct flat_table){0};
}

/* Sets *at to the place of a field of `width` bytes; false if it is absent. */
static bool find(const struct flat_table *table, unsigned field, size_t width, size_t *at)
{
    const size_t slot = VTABLE_HEADER + (size_t)field * SLOT_BYTES;
    if (!table->buffer || slot + SLOT_BYTES > table->vtable_size)
        return false;
    const size_t offset = load_unsigned(table->buffer->data + table->vtable + slot, SLOT_BYTES);
    if (offset == 0)
        return false;
    if (offset > table->size || table->size - offset < width) {
        table->buffer->failed = true;
        return false;
    }
    *at = table->at + offset;
    return true;
}

bool flat_has(const struct flat_table *table, unsigned field)
{
    size_t at;
    return find(table, field, 1, &at);
}

int64_t flat_int(const struct flat_table *table, unsigned field, size_t width, int64_t otherwise)
{
    size_t at;
    return find(table, field, width, &at) ? load_int(table->buffer->data + at, width) : otherwise;
}

struct flat_table flat_child(const struct flat_table *table, unsigned field)
{
    size_t at;
    if (find(table, field, OFFSET_BYTES, &at) && follow(table->buffer, at, &at))
        return table_at(table->buffer, at);
    return (struct flat_table){0};
}

struct flat_vector flat_vector(const struct flat_table *table, unsigned field, size_t size)
{
    const struct flat_vector none = {0};
    size_t at;
    if (!find(table, field, OFFSET_BYTES, &at) || !follow(table->buffer, at, &at))
        return none;
    const size_t count = load_unsigned(table->buffer->data + at, OFFSET_BYTES);
    at += OFFSET_BYTES;
    /* 32 bits times a small size: no overflow */
    return has_bytes(table->buffer, at, count * size) ? (struct flat_vector){table->buffer, at, count, size} : none;
}

struct text flat_string(const struct flat_table *table, unsigned field)
{
    struct flat_vector bytes = flat_vector(table, field, 1);
    if (bytes.count == 0)
        return (struct text){"", 0};
    return (struct text){(const char *)bytes.buffer->data + bytes.at, bytes.count};
}

struct text flat_pair(const struct flat_table *table, unsigned field, const char *key)
{
    struct flat_vector pairs = flat_vector(table, field, OFFSET_BYTES);
    for (size_t k = 0; k < pairs.count; k++) {
        struct flat_table pair = flat_vector_table(&pairs, k);
        if (text_is(flat_string(&pair, 0), key))
            return flat_string(&pair, 1);
    }
    return (struct text){0};
}

struct flat_table flat_vector_table(const struct flat_vector *vector, size_t index)
{
    size_t at;
    if (follow(vector->buffer, vector->at + index * OFFSET_BYTES, &at))
        return table_at(vector->buffer, at);
    return (struct flat_table){0};
}

int64_t flat_vector_int(const struct flat_vector *vector, size_t index, size_t offset, size_t width)
{
    return load_int(vector->buffer->data + vector->at + index * vector->size + offset, width);
}
