#include "engine/arrow/batch.h"

#include "base/heap.h"

#include <stdlib.h>

/* A view: its length, then the string itself if it is short, else four bytes of it, the buffer and the offset there. */
enum { VIEW_BYTES = 16, VIEW_SHORT = 12, VIEW_STRING = 4, VIEW_BUFFER = 8, VIEW_OFFSET = 12 };

bool arrow_strings_open(const struct arrow_array *array, const struct arrow_field *field, struct arrow_strings *strings)
{
    const bool view = field->reading == READING_VIEW;
    *strings = (struct arrow_strings){
        .reading = field->reading, .width = field->width, .rows = array->rows, .count = view ? array->variadic : 1};
    strings->bytes = heap_array(strings->count, sizeof *strings->bytes);
    const size_t places = array->rows == 0 ? 0 : ((size_t)array->rows + (view ? 0 : 1)) * field->width;
    if (!arrow_bytes_load(array, 1, &strings->places) || strings->places.size < places)
        return false;
    for (size_t k = 0; k < strings->count; k++) {
        if (!arrow_bytes_load(array, 2 + k, &strings->bytes[k]))
            return false;
    }
    return true;
}

void arrow_strings_close(struct arrow_strings *strings)
{
    for (size_t k = 0; k < strings->count; k++)
        arrow_bytes_release(&strings->bytes[k]);
    free(strings->bytes);
    arrow_bytes_release(&strings->places);
    *strings = (struct arrow_strings){0};
}

/* Bytes begin..end-1 of a buffer. */
static bool part_of(const struct arrow_bytes *bytes, int64_t begin, int64_t end, struct text *text)
{
    if (begin < 0 || begin > end || (size_t)end > bytes->size)
        return false;
    text->at = begin == end ? "" : (const char *)bytes->data + begin;
    text->length = (size_t)(end - begin);
    return true;
}

static bool view_at(const struct arrow_strings *strings, const unsigned char *view, struct text *text)
{
    const int64_t length = load_int(view, 4);
    if (length >= 0 && length <= VIEW_SHORT) {
        *text = (struct text){(const char *)view + VIEW_STRING, (size_t)length};
        return true;
    }
    int64_t buffer = load_int(view + VIEW_BUFFER, 4), offset = load_int(view + VIEW_OFFSET, 4);
    return length > 0 && buffer >= 0 && (size_t)buffer < strings->count &&
           part_of(&strings->bytes[buffer], offset, offset + length, text);
}

bool arrow_string_at(const struct arrow_strings *strings, int64_t row, struct text *text)
{
    const unsigned char *at = strings->places.data + (size_t)row * strings->width;
    if (strings->reading == READING_VIEW)
        return view_at(strings, at, text);
    return part_of(strings->bytes, load_int(at, strings->width), load_int(at + strings->width, strings->width), text);
}
