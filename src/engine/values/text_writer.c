#include "engine/values/text_writer.h"

#include "base/buffer_pool.h"
#include "base/heap.h"

#include <stdlib.h>

bool text_writer_grow(struct text_writer *writer, size_t length)
{
    enum { FIRST = 1 << 12, MOST = 1 << 22 };
    const size_t last = writer->count > 0 ? writer->blocks[writer->count - 1].size : FIRST / 2;
    const size_t size = last < MOST / 2 ? 2 * last : MOST, needed = sizeof(uint32_t) + length;
    struct text_block block;
    block.pages = buffer_pool_alloc(writer->pool, size > needed ? size : needed, &block.size);
    if (!block.pages)
        return false;
    *HEAP_PUSH(writer->blocks, writer->count, writer->capacity) = block;
    writer->at = block.pages;
    writer->left = block.size;
    return true;
}

void text_writer_finish(struct text_writer *writer, struct dictionary *dictionary)
{
    if (dictionary)
        dictionary_add_blocks(dictionary, writer->blocks, writer->count);
    for (size_t i = 0; i < writer->count && !dictionary; i++)
        buffer_pool_release(writer->pool, writer->blocks[i].pages, writer->blocks[i].size);
    free(writer->blocks);
    *writer = (struct text_writer){.pool = writer->pool};
}

const char *text_nowhere(void)
{
    static const char empty[sizeof(uint32_t) + 1] = {0};
    return empty + sizeof(uint32_t);
}
