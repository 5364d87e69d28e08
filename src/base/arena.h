/* Memory that dies together.
 *
 * An arena hands out zeroed memory until it is freed as a whole. Trees, typed code and plans of one statement
 * live in one arena. Running out of memory ends the program with a message: there is nothing sensible a query
 * of a few kilobytes can do about it. Column data never comes from an arena. */
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

/* The same at a multiple of `alignment`, a power of two. */
void *arena_aligned(struct arena *arena, size_t size, size_t alignment);

/* `count` zeroed elements of `size` bytes, with the product checked. Never NULL. */
void *arena_array(struct arena *arena, size_t count, size_t size);

/* A copy of `count` elements of `size` bytes with room for `capacity` of them, the rest zeroed. */
void *arena_grow(struct arena *arena, const void *old, size_t count, size_t capacity, size_t size);

/* A NUL-terminated copy of `length` bytes of text. */
char *arena_text(struct arena *arena, const char *text, size_t length);

/* printf into the arena. */
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list args);

#endif
