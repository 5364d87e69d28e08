/* An arena allocator.
 *
 * An arena hands out zeroed memory and frees all of it at once. The trees, typed code and plan of a statement live in
 * one arena. Running out of memory aborts with a message: a query of a few kilobytes cannot recover. Column data never
 * comes from an arena. */
#ifndef RQL_BASE_ARENA_H
#define RQL_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena;

/* A new, empty arena; release it with arena_free. */
struct arena *arena_new(void);

/* Frees the arena and everything allocated from it. NULL is allowed. */
void arena_free(struct arena *arena);

/* `size` zeroed bytes, aligned for any type. Never NULL. */
void *arena_alloc(struct arena *arena, size_t size);

/* `size` bytes aligned to `alignment`, a power of two, not all zero: for buffers. Never NULL. */
void *arena_aligned(struct arena *arena, size_t size, size_t alignment);

/* `count` zeroed elements of `size` bytes; overflow is checked. Never NULL. */
void *arena_array(struct arena *arena, size_t count, size_t size);

/* A zeroed array of `capacity` elements of `size` bytes that begins with a copy of the `count` elements of `old`. Never
 * NULL. */
void *arena_grow(struct arena *arena, const void *old, size_t count, size_t capacity, size_t size);

/* `array` if it has room for one more than `count` elements of `size` bytes, else a copy with twice the capacity.
 * Never NULL. */
void *arena_reserve(struct arena *arena, void *array, size_t count, size_t *capacity, size_t size);

/* The place of one more element of an array that arena_reserve grows. */
#define ARENA_PUSH(arena, array, count, capacity)                                                                      \
    ((array) = arena_reserve(arena, array, count, &(capacity), sizeof *(array)), &(array)[(count)++])

/* A copy of a value. Never NULL. */
void *arena_copy(struct arena *arena, const void *value, size_t size);

/* A new struct with these members. */
#define ARENA_NEW(arena, type, ...) ((type *)arena_copy(arena, &(type){__VA_ARGS__}, sizeof(type)))

/* A NUL-terminated copy of `length` bytes of text. */
char *arena_text(struct arena *arena, const char *text, size_t length);

/* The formatted text, allocated in the arena. */
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list args);

#endif
