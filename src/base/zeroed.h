/* Zeroed memory for scratch arrays and states: pages where it is long, which cost nothing until touched, and from the
 * heap where it is short, since a mapping takes longer than some operators of few rows do. */
#ifndef RQL_BASE_ZEROED_H
#define RQL_BASE_ZEROED_H

#include <stddef.h>

/* Aligned to a cache line. NULL: there is not enough. */
void *zeroed_alloc(size_t size);
void zeroed_free(void *memory, size_t size); /* the size that was asked for; NULL: nothing */

#endif
