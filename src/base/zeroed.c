#include "base/zeroed.h"

#include "base/heap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    CACHE_LINE_BYTES = 64,
    LEAST_PAGES = 1 << 20,
    LEAST_HUGE_PAGES = 4 << 20 /* smaller mappings lose more to zeroing than they save in page faults */
};

void *zeroed_alloc(size_t size)
{
    if (size < LEAST_PAGES) {
        const size_t lines = size / CACHE_LINE_BYTES + 1;
        void *memory;
        do
            memory = aligned_alloc(CACHE_LINE_BYTES, lines * CACHE_LINE_BYTES);
        while (!memory && heap_spend_reserve());
        return memory ? memset(memory, 0, lines * CACHE_LINE_BYTES) : NULL;
    }
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    if (size >= LEAST_HUGE_PAGES)
        madvise(memory, size, MADV_HUGEPAGE);
    return memory;
}

void zeroed_free(void *memory, size_t size)
{
    if (size < LEAST_PAGES)
        free(memory);
    else if (memory)
        munmap(memory, size);
}
