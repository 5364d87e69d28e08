#include "base/heap.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESERVE_PIECES = 8 };

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

/* Shared by all threads: memory that the others have taken is missing to each. */
static struct {
    _Atomic(void *) pieces[RESERVE_PIECES];
    _Atomic(atomic_int *) stop;
    atomic_bool used; /* since it was taken last */
} reserve;

void heap_keep_reserve(atomic_int *stop)
{
    reserve.stop = stop;
    (void)heap_refill_reserve();
}

bool heap_refill_reserve(void)
{
    for (size_t k = 0; k < RESERVE_PIECES && reserve.stop; k++) {
        if (!reserve.pieces[k])
            reserve.pieces[k] = malloc(HEAP_PIECE);
    }
    return atomic_exchange(&reserve.used, false);
}

bool heap_spend_reserve(void)
{
    void *piece = NULL;
    for (size_t k = 0; k < RESERVE_PIECES && !piece; k++)
        piece = atomic_exchange(&reserve.pieces[k], NULL);
    if (!piece)
        return false;
    reserve.used = true;
    *reserve.stop = 1;
    free(piece);
    return true;
}

void *heap_array(size_t count, size_t size)
{
    void *array;
    do
        array = calloc(count ? count : 1, size ? size : 1);
    while (!array && heap_spend_reserve());
    if (!array)
        heap_exhausted();
    return array;
}

void *heap_aligned(size_t alignment, size_t size)
{
    void *memory;
    do
        memory = aligned_alloc(alignment, size);
    while (!memory && heap_spend_reserve());
    if (!memory)
        heap_exhausted();
    return memory;
}

void *heap_resize(void *array, size_t count, size_t size)
{
    void *resized;
    do
        resized = reallocarray(array, count ? count : 1, size ? size : 1);
    while (!resized && heap_spend_reserve());
    if (!resized)
        heap_exhausted();
    return resized;
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

void *heap_copy(const void *value, size_t size)
{
    return memcpy(heap_resize(NULL, size, 1), value, size);
}

char *heap_text(const char *text)
{
    return heap_copy(text, strlen(text) + 1);
}
