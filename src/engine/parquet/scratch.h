/* The buffers of one thread that decodes pages, reused from page to page so that they stay in its cache. */
#ifndef RQL_ENGINE_PARQUET_SCRATCH_H
#define RQL_ENGINE_PARQUET_SCRATCH_H

#include "engine/compression/block_codec.h"

#include <stddef.h>

struct buffer_pool;

struct scratch_buffer {
    void *data;
    size_t size;
};

struct scratch {
    struct buffer_pool *pool; /* gives the memory; NULL is allowed */
    struct block_decoder decoder;
    struct scratch_buffer page;     /* decompressed */
    struct scratch_buffer values;   /* decoded, not yet converted */
    struct scratch_buffer lengths;  /* of byte arrays */
    struct scratch_buffer prefixes; /* the lengths that byte arrays share with the one before */
    struct scratch_buffer text;     /* a byte array put together */
    struct scratch_buffer elements; /* of a column, of which some are kept */
};

/* At least `size` bytes; the buffer's content is lost if it has to grow. NULL: no memory. */
void *scratch_reserve(struct scratch *scratch, struct scratch_buffer *buffer, size_t size);

void scratch_free(struct scratch *scratch);

#endif
