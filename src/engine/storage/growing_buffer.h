/* A buffer that grows as it is written: for decompressed data and data from pipes. */
#ifndef RQL_ENGINE_STORAGE_GROWING_BUFFER_H
#define RQL_ENGINE_STORAGE_GROWING_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

/* Initialise with zeroes, `pool`, and `max`. */
struct growing_buffer {
    char *data;
    size_t used, size;        /* bytes written and bytes of memory */
    size_t max;               /* `used` never exceeds it; 0: what memory and disk hold */
    struct buffer_pool *pool; /* has the memory, which is a block of it; may be NULL */
};

/* Ensures room for `extra` bytes at data + used. Returns false if that exceeds `max` or there is no memory. */
bool growing_buffer_reserve(struct growing_buffer *buffer, size_t extra);

/* Releases the memory; the buffer is empty then, and may be used again. */
void growing_buffer_free(struct growing_buffer *buffer);

#endif
