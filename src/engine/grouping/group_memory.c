#include "engine/grouping/group_memory.h"

#include "base/parallel.h"
#include "engine/vector/ahead.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_PAGES = 1 << 20 };

void *group_memory_new(size_t size)
{
    if (size >= LEAST_PAGES)
        return pages_alloc(size);
    const size_t lines = (size + CACHE_LINE - 1) / CACHE_LINE + 1;
    void *memory = aligned_alloc(CACHE_LINE, lines * CACHE_LINE);
    if (memory)
        memset(memory, 0, size);
    return memory;
}

void group_memory_free(void *memory, size_t size)
{
    if (size >= LEAST_PAGES)
        pages_free(memory, size);
    else
        free(memory);
}
