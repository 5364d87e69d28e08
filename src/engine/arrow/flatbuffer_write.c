#include "engine/arrow/flatbuffer.h"

#include <string.h>

enum { OFFSET_BYTES = 4, ALIGNMENT = 8, VTABLE_HEADER = 4, SLOT_BYTES = 2 };

static void add_zeroes(struct strbuf *buffer, size_t count)
{
    memset(strbuf_reserve(buffer, count), 0, count);
    strbuf_commit(buffer, count);
}

/* Pads so that the byte `ahead` after the next is aligned. */
static void align(struct strbuf *buffer, size_t ahead, size_t alignment)
{
    add_zeroes(buffer, (alignment - (buffer->length + ahead) % alignment) % alignment);
}

void flat_set(struct strbuf *buffer, size_t at, int64_t value, size_t width)
{
    memcpy(buffer->text + at, &value, width); /* little-endian: the low bytes come first */
}

void flat_link(struct strbuf *buffer, size_t at, size_t target)
{
    flat_set(buffer, at, (int64_t)(target - at), OFFSET_BYTES);
}

void flat_begin(struct strbuf *buffer)
{
    strbuf_clear(buffer);
    add_zeroes(buffer, OFFSET_BYTES);
}

size_t flat_add_table(struct strbuf *buffer, struct flat_slot *slots, size_t count)
{
    size_t vtable_size = VTABLE_HEADER + count * SLOT_BYTES, size = OFFSET_BYTES;
    align(buffer, vtable_size, ALIGNMENT);
    const size_t vtable = buffer->length;
    const size_t table = vtable + vtable_size;
    add_zeroes(buffer, vtable_size);
    for (size_t k = 0; k < count; k++) {
        if (slots[k].width == 0)
            continue;
        size = (size + slots[k].width - 1) / slots[k].width * slots[k].width;
        slots[k].at = table + size;
        flat_set(buffer, vtable + VTABLE_HEADER + k * SLOT_BYTES, (int64_t)size, SLOT_BYTES);
        size += slots[k].width;
    }
    flat_set(buffer, vtable, (int64_t)vtable_size, SLOT_BYTES);
    flat_set(buffer, vtable + SLOT_BYTES, (int64_t)size, SLOT_BYTES);
    add_zeroes(buffer, size);
    flat_set(buffer, table, (int64_t)vtable_size, OFFSET_BYTES); /* how far the vtable is before the table */
    for (size_t k = 0; k < count; k++) {
        if (slots[k].width > 0)
            flat_set(buffer, slots[k].at, slots[k].value, slots[k].width);
    }
    return table;
}

size_t flat_add_text(struct strbuf *buffer, const char *text, size_t length)
{
    const size_t at = flat_add_vector(buffer, length, 1);
    if (length > 0)
        memcpy(buffer->text + at + OFFSET_BYTES, text, length);
    add_zeroes(buffer, 1);
    return at;
}

size_t flat_add_vector(struct strbuf *buffer, size_t count, size_t size)
{
    align(buffer, OFFSET_BYTES, size < ALIGNMENT ? OFFSET_BYTES : ALIGNMENT);
    const size_t at = buffer->length;
    add_zeroes(buffer, OFFSET_BYTES + count * size);
    flat_set(buffer, at, (int64_t)count, OFFSET_BYTES);
    return at;
}
