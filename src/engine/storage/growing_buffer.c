#include "engine/storage/growing_buffer.h"

#include "base/buffer_pool.h"

#include <stdint.h>

enum { FIRST_SIZE = 1 << 20, SPILLED_SHARE = 8 };

bool growing_buffer_reserve(struct growing_buffer *buffer, size_t extra)
{
    const size_t max = buffer->max > 0 ? buffer->max : SIZE_MAX / 2;
    if (extra > max - buffer->used)
        return false;
    const size_t needed = buffer->used + extra;
    if (needed <= buffer->size)
        return true;
    size_t size = buffer->size ? buffer->size : FIRST_SIZE;
    /* What is spilled grows where it is: no more is taken of the disk than will be needed. */
    const bool spilled = buffer_pool_holds_spilled(buffer->pool, buffer->data);
    while (size < needed)
        size += spilled ? size / SPILLED_SHARE : size;
    if (!buffer->data && !buffer_pool_takes(buffer->pool, (int64_t)size))
        return false;
    void *data = buffer->data ? buffer_pool_grow(buffer->pool, buffer->data, size, &buffer->size)
                              : buffer_pool_alloc(buffer->pool, size, &buffer->size);
    if (!data)
        return false;
    buffer->data = data;
    return true;
}

void growing_buffer_free(struct growing_buffer *buffer)
{
    buffer_pool_release(buffer->pool, buffer->data, buffer->size);
    *buffer = (struct growing_buffer){.max = buffer->max, .pool = buffer->pool};
}
