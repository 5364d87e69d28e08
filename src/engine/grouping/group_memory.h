/* Zeroed memory for the states of groups: pages where it is long, which cost nothing until touched, and from the heap
 * where it is short, since a mapping takes longer than some groups do. */
#ifndef RQL_ENGINE_GROUPING_GROUP_MEMORY_H
#define RQL_ENGINE_GROUPING_GROUP_MEMORY_H

#include <stddef.h>

/* Aligned to a cache line. NULL: there is not enough. */
void *group_memory_new(size_t size);
void group_memory_free(void *memory, size_t size); /* NULL: nothing */

#endif
