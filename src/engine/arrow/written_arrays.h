/* The arrays of a record batch that is written: those of structs and lists before those of their fields. */
#ifndef RQL_ENGINE_ARROW_WRITTEN_ARRAYS_H
#define RQL_ENGINE_ARROW_WRITTEN_ARRAYS_H

#include "engine/storage/nesting.h"

struct written_array {
    int64_t rows, missing;
    const uint8_t *valid;        /* a byte for each row; NULL: no value is missing */
    const struct column *column; /* the values, from row `begin`; NULL: of a struct or lists */
    int64_t begin;
    const int64_t *offsets; /* of lists: rows + 1, within the elements of this batch; else NULL */
    bool is_large;          /* these are of 64 bits */
};

struct written_arrays {
    struct written_array *at;
    size_t count, capacity;
    /* What is owned. */
    void **memory;
    size_t memory_count, memory_capacity;
    struct column **columns;
    size_t column_count, column_capacity;
};

/* Finds the arrays of rows begin..begin+rows-1. NULL, or what is wrong. Free them in any case. */
const char *written_arrays_find(const struct nest *root, int64_t begin, int64_t rows, struct written_arrays *arrays);
void written_arrays_free(struct written_arrays *arrays);

#endif
