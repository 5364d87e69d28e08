#include "base/arena.h"

#include "base/heap.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Chunks double in size up to LARGEST_CHUNK; a larger allocation gets a chunk of its own. */
enum { FIRST_CHUNK = 4096, LARGEST_CHUNK = 1 << 20 };

struct chunk {
    struct chunk *next;
    _Alignas(max_align_t) char bytes[];
};

struct arena {
    struct chunk *chunks;
    char *free;       /* the zeroed rest of the newest chunk */
    size_t left;      /* bytes at `free` */
    size_t next_size; /* of the next regular chunk */
};

static char *add_chunk(struct arena *arena, size_t size, bool zeroed)
{
    if (size > SIZE_MAX - sizeof(struct chunk))
        heap_exhausted();
    const size_t bytes = sizeof(struct chunk) + size;
    struct chunk *chunk = zeroed ? heap_array(1, bytes) : heap_resize(NULL, bytes, 1);
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    return chunk->bytes;
}

struct arena *arena_new(void)
{
    struct arena *arena = heap_array(1, sizeof *arena);
    arena->next_size = FIRST_CHUNK;
    return arena;
}

void arena_free(struct arena *arena)
{
    if (!arena)
        return;
    struct chunk *chunk = arena->chunks;
    while (chunk) {
        struct chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    free(arena);
}

void *arena_alloc(struct arena *arena, size_t size)
{
    const size_t alignment = _Alignof(max_align_t);
    if (size > SIZE_MAX - alignment)
        heap_exhausted();
    size = size ? (size + alignment - 1) / alignment * alignment : alignment;
    if (size > arena->left) {
        if (size > arena->next_size / 4)
            return add_chunk(arena, size, true);
        arena->free = add_chunk(arena, arena->next_size, true);
        arena->left = arena->next_size;
        if (arena->next_size < LARGEST_CHUNK)
            arena->next_size *= 2;
    }

    char *memory = arena->free;
    arena->free += size;
    arena->left -= size;
    return memory;
}

void *arena_aligned(struct arena *arena, size_t size, size_t alignment)
{
    assert(alignment > 0 && (alignment & (alignment - 1)) == 0);
    if (size > SIZE_MAX - alignment)
        heap_exhausted();
    const size_t room = size + alignment - 1;
    const uintptr_t memory =
        (uintptr_t)(room > LARGEST_CHUNK ? add_chunk(arena, room, false) : arena_alloc(arena, room));
    return (void *)((memory + alignment - 1) / alignment * alignment);
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        heap_exhausted();
    return arena_alloc(arena, count * size);
}

void *arena_grow(struct arena *arena, const void *old, size_t count, size_t capacity, size_t size)
{
    void *memory = arena_array(arena, capacity > count ? capacity : count, size);
    if (count)
        memcpy(memory, old, count * size);
    return memory;
}

void *arena_reserve(struct arena *arena, void *array, size_t count, size_t *capacity, size_t size)
{
    enum { FIRST_CAPACITY = 8 };
    assert(count <= *capacity);
    if (count < *capacity)
        return array;
    *capacity = *capacity ? 2 * *capacity : FIRST_CAPACITY;
    return arena_grow(arena, array, count, *capacity, size);
}

void *arena_copy(struct arena *arena, const void *value, size_t size)
{
    return arena_grow(arena, value, 1, 1, size);
}

char *arena_text(struct arena *arena, const char *text, size_t length)
{
    if (length == SIZE_MAX)
        heap_exhausted();
    char *copy = arena_alloc(arena, length + 1);
    if (length)
        memcpy(copy, text, length);
    return copy;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, args);
    /* Only text longer than INT_MAX or an invalid format fails. */
    if (length < 0)
        heap_exhausted();
    char *text = arena_alloc(arena, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}
