/* Heap memory for small objects with their own lifetime: names, relations, bindings. Running out of memory aborts with
 * a message: a query of a few kilobytes cannot recover. Column data is not allocated here, because it may not fit. */
#ifndef RQL_BASE_HEAP_H
#define RQL_BASE_HEAP_H

#include <stddef.h>

/* `count` zeroed elements of `size` bytes, to be freed with free. Never NULL. */
void *heap_array(size_t count, size_t size);

/* The array resized to `count` elements; new elements are not zeroed. Never NULL. */
void *heap_resize(void *array, size_t count, size_t size);

/* `array` with room for at least one more than `count` elements of `size` bytes: doubles *capacity when it is full.
 * New elements are not zeroed. Never NULL. */
void *heap_reserve(void *array, size_t count, size_t *capacity, size_t size);

/* The place of one more element of an array that heap_reserve grows. */
#define HEAP_PUSH(array, count, capacity)                                                                              \
    ((array) = heap_reserve(array, count, &(capacity), sizeof *(array)), &(array)[(count)++])

/* A copy of the text, to be freed with free. */
char *heap_text(const char *text);

/* Makes malloc retain up to 32 MiB of freed memory: getting it again costs a page fault per 4 KiB, a sixth of the time
 * of a filter of 10 M rows on a virtual machine. */
void heap_retain_freed(void);

/* Aborts with "out of memory"; also for sizes that no memory could hold. */
_Noreturn void heap_exhausted(void);

#endif
