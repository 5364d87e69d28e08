/* FlatBuffers, read with every access checked against the buffer's size.
 *
 * Nothing is verified in advance, so a file that changes while it is read is no danger either. An access that is out of
 * bounds sets the buffer's `failed` and yields nothing. Format: "FlatBuffer Internals", flatbuffers.dev. */
#ifndef RQL_ENGINE_ARROW_FLATBUFFER_H
#define RQL_ENGINE_ARROW_FLATBUFFER_H

#include "base/strbuf.h"
#include "engine/values/dictionary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct flat_buffer {
    const unsigned char *data;
    size_t size;
    bool failed;
};

/* A table; `buffer` is NULL where there is none: all its fields are absent. */
struct flat_table {
    struct flat_buffer *buffer;
    size_t at, size;
    size_t vtable, vtable_size;
};

/* `count` elements of `size` bytes at byte `at`: all within the buffer. */
struct flat_vector {
    struct flat_buffer *buffer;
    size_t at, count, size;
};

struct flat_table flat_root(struct flat_buffer *buffer);

/* Field number `field` of a table, counted from 0 in the order of its schema. */
bool flat_has(const struct flat_table *table, unsigned field);
/* An integer of 1, 2, 4 or 8 bytes; `otherwise` if it is absent. */
int64_t flat_int(const struct flat_table *table, unsigned field, size_t width, int64_t otherwise);
struct flat_table flat_child(const struct flat_table *table, unsigned field);
struct text flat_string(const struct flat_table *table, unsigned field); /* absent: empty */
struct flat_vector flat_vector(const struct flat_table *table, unsigned field, size_t size);

/* The value of the first pair with this key in a field that is a vector of Arrow's KeyValue; `at` is NULL if there is
 * none. */
struct text flat_pair(const struct flat_table *table, unsigned field, const char *key);

/* Element `index`, below the count, of a vector of tables (size 4). */
struct flat_table flat_vector_table(const struct flat_vector *vector, size_t index);
/* The integer of `width` bytes at byte `offset` of element `index`, below the count. */
int64_t flat_vector_int(const struct flat_vector *vector, size_t index, size_t offset, size_t width);

/* A little-endian signed integer of 1, 2, 4 or 8 bytes at any address. */
static inline int64_t load_int(const unsigned char *at, size_t width)
{
    int16_t narrow;
    int32_t middle;
    int64_t wide;
    switch (width) {
    case 1:
        return (signed char)*at;
    case 2:
        memcpy(&narrow, at, sizeof narrow);
        return narrow;
    case 4:
        memcpy(&middle, at, sizeof middle);
        return middle;
    default:
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
}

/* ---- writing ---- */

/* Begins a buffer; its root is linked at byte 0. */
void flat_begin(struct strbuf *buffer);

/* A field of a table. */
struct flat_slot {
    size_t width; /* 1, 2, 4 or 8 bytes; an offset has 4; 0: absent */
    int64_t value;
    size_t at; /* set: its place, to link an offset */
};

/* Appends an object and returns its place. A vector's elements are zero and begin 4 bytes after its place. */
size_t flat_add_table(struct strbuf *buffer, struct flat_slot *slots, size_t count);
size_t flat_add_text(struct strbuf *buffer, const char *text, size_t length);
size_t flat_add_vector(struct strbuf *buffer, size_t count, size_t size);

/* Writes an integer, or the offset that points from `at` to the object at `target`, which is later. */
void flat_set(struct strbuf *buffer, size_t at, int64_t value, size_t width);
void flat_link(struct strbuf *buffer, size_t at, size_t target);

#endif
