/* Builds FlatBuffers from front to back: a table is written with room for its offsets, which are linked when the
 * objects that they point to have been written. */
#ifndef RQL_ENGINE_ARROW_FLATBUFFER_WRITE_H
#define RQL_ENGINE_ARROW_FLATBUFFER_WRITE_H

#include "base/strbuf.h"

#include <stdint.h>

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
