#include "engine/parquet/scratch.h"

#include "base/buffer_pool.h"

void *scratch_reserve(struct scratch *scratch, struct scratch_buffer *buffer, size_t size)
{
    if (size <= buffer->size && buffer->data)
        return buffer->data;
    buffer_pool_release(scratch->pool, buffer->data, buffer->size);
    buffer->data = buffer_pool_alloc(scratch->pool, size, &buffer->size);
    if (!buffer->data)
        buffer->size = 0;
    return buffer->data;
}

void scratch_free(struct scratch *scratch)
{
    struct scratch_buffer *buffers[] = {&scratch->page,     &scratch->values, &scratch->lengths,
                                        &scratch->prefixes, &scratch->text,   &scratch->elements};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        buffer_pool_release(scratch->pool, buffers[i]->data, buffers[i]->size);
    block_decoder_release(&scratch->decoder);
}
