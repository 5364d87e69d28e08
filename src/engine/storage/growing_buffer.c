#include "engine/storage/growing_buffer.h"

#include <sys/mman.h>

enum { FIRST_SIZE = 1 << 20 };

bool growing_buffer_reserve(struct growing_buffer *buffer, size_t extra)
{
    if (extra > buffer->max - buffer->used)
        return false;
    if (buffer->used + extra <= buffer->size)
        return true;
    size_t size = buffer->size ? buffer->size : FIRST_SIZE;
    while (size < buffer->used + extra)
        size *= 2;
    void *data = buffer->data ? mremap(buffer->data, buffer->size, size, MREMAP_MAYMOVE)
                              : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED)
        return false;
    buffer->data = data;
    buffer->size = size;
    return true;
}

void growing_buffer_free(struct growing_buffer *buffer)
{
    if (buffer->data)
        munmap(buffer->data, buffer->size);
    *buffer = (struct growing_buffer){0};
}
