/* A buffer that grows as it is written: for decompressed data and data from pipes. */
#ifndef RQL_ENGINE_STORAGE_GROWING_BUFFER_H
#define RQL_ENGINE_STORAGE_GROWING_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

/* Initialise with zeroes and `max`. The memory comes from mmap. */
struct growing_buffer {
    char *data;
    size_t used, size; /* bytes written and bytes mapped */
    size_t max;        /* `used` never exceeds it */
};

/* Ensures room for `extra` bytes at data + used. Returns false if that exceeds `max` or there is no memory. */
bool growing_buffer_reserve(struct growing_buffer *buffer, size_t extra);

/* Unmaps the memory; the buffer is empty then, and may be used again. */
void growing_buffer_free(struct growing_buffer *buffer);

#endif
