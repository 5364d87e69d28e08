#include "base/heap.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GLIBC__)
#include <malloc.h>

void heap_retain_freed(void)
{
    (void)mallopt(M_MMAP_THRESHOLD, 4 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 32 << 20);
}
#else
void heap_retain_freed(void)
{
}
#endif

/* The only place below the shell that prints and ends the program. */
void heap_exhausted(void)
{
    fputs("rql: out of memory\n", stderr);
    abort();
}

static void *or_abort(void *memory)
{
    if (!memory)
        heap_exhausted();
    return memory;
}

void *heap_array(size_t count, size_t size)
{
    return or_abort(calloc(count ? count : 1, size ? size : 1));
}

void *heap_resize(void *array, size_t count, size_t size)
{
    return or_abort(reallocarray(array, count ? count : 1, size ? size : 1));
}

void *heap_reserve(void *array, size_t count, size_t *capacity, size_t size)
{
    enum { FIRST_CAPACITY = 8 };
    assert(count <= *capacity);
    if (count < *capacity)
        return array;
    *capacity = *capacity ? 2 * *capacity : FIRST_CAPACITY;
    return heap_resize(array, *capacity, size);
}

char *heap_text(const char *text)
{
    return or_abort(strdup(text));
}
