/* Small pieces of memory that live as long as somebody refers to them: names, relations, bindings. Running out of it
 * ends the program with a message: there is nothing sensible a query of a few kilobytes can do about it. Column data,
 * of which there can be too much, is not allocated here. */
#ifndef RQL_BASE_HEAP_H
#define RQL_BASE_HEAP_H

#include <stddef.h>

/* `count` zeroed elements of `size` bytes, released by free. Never NULL. */
void *heap_array(size_t count, size_t size);

/* The array with room for `count` elements, what is new not zeroed. Never NULL. */
void *heap_resize(void *array, size_t count, size_t size);

/* A copy of the text. */
char *heap_text(const char *text);

/* What is freed from now on stays the process's own, up to some megabytes: to take it anew from the system costs a page
 * fault for every 4 KiB, which are a sixth of what a filter of 10 M rows takes on a virtual machine. */
void heap_retain_freed(void);

/* Ends the program for want of memory: also for sizes that no memory could hold. */
_Noreturn void heap_exhausted(void);

#endif
