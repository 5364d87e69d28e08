/* Heap memory for small objects with their own lifetime: names, relations, bindings. Where there is none, a reserve is
 * used and the statement stopped, as if interrupted, so that no caller has to handle that; without a reserve the
 * program aborts with a message. Column data is not allocated here, because it may not fit. */
#ifndef RQL_BASE_HEAP_H
#define RQL_BASE_HEAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { HEAP_PIECE = 1 << 20 }; /* bytes of a piece of the reserve */

/* Takes the reserve. *stop is set when a piece of it is used. */
void heap_keep_reserve(atomic_int *stop);

/* Between statements: takes what was used again, and returns whether something was. */
bool heap_refill_reserve(void);

/* Gives a piece of the reserve back to the allocator and stops the statement; false: none is left. */
bool heap_spend_reserve(void);

/* `count` zeroed elements of `size` bytes, to be freed with free. Never NULL. */
void *heap_array(size_t count, size_t size);

/* `size` bytes, a multiple of the alignment, a power of two, to be freed with free. Not zeroed. Never NULL. */
void *heap_aligned(size_t alignment, size_t size);

/* The array resized to `count` elements; new elements are not zeroed. Never NULL. */
void *heap_resize(void *array, size_t count, size_t size);

/* `array` with room for at least one more than `count` elements of `size` bytes: doubles *capacity when it is full.
 * New elements are not zeroed. Never NULL. */
void *heap_reserve(void *array, size_t count, size_t *capacity, size_t size);

/* The place of one more element of an array that heap_reserve grows. */
#define HEAP_PUSH(array, count, capacity)                                                                              \
    ((array) = heap_reserve(array, count, &(capacity), sizeof *(array)), &(array)[(count)++])

/* A copy of a value, to be freed with free, and a new struct with these members. */
void *heap_copy(const void *value, size_t size);
#define HEAP_NEW(type, ...) ((type *)heap_copy(&(type){__VA_ARGS__}, sizeof(type)))

/* A copy of the text, to be freed with free. */
char *heap_text(const char *text);

/* Makes malloc retain up to 32 MiB of freed memory: getting it again costs a page fault per 4 KiB, a sixth of the time
 * of a filter of 10 M rows on a virtual machine. */
void heap_retain_freed(void);

/* Aborts with "out of memory"; also for sizes that no memory could hold. */
_Noreturn void heap_exhausted(void);

#endif
