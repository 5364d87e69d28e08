/* The strings of an array, by offsets or by views. */
#ifndef RQL_ENGINE_ARROW_STRINGS_H
#define RQL_ENGINE_ARROW_STRINGS_H

#include "engine/arrow/batch.h"

struct arrow_strings {
    enum reading reading;
    size_t width;
    int64_t rows;
    struct arrow_bytes places; /* offsets or views */
    struct arrow_bytes *bytes; /* one for offsets; the variadic buffers of views */
    size_t count;
};

/* Loads the buffers of an array of text; false if that fails or they are too short. Release it in either case. */
bool arrow_strings_open(const struct arrow_array *array, const struct arrow_field *field,
                        struct arrow_strings *strings);
void arrow_strings_close(struct arrow_strings *strings);

/* The string of a row; false if it is not within its buffer. */
bool arrow_string_at(const struct arrow_strings *strings, int64_t row, struct text *text);

#endif
