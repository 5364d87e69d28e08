/* How much memory there is. */
#ifndef RQL_BASE_MEMORY_SIZE_H
#define RQL_BASE_MEMORY_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of memory that this process could use at most: the machine's, less if a limit is set on the process or (with
 * cgroups, as in containers) on its group. */
int64_t system_memory_bytes(void);

/* Bytes of these that are free now, or taken only by what can be read from a file again. */
int64_t system_memory_free_bytes(void);

/* Whether so many bytes more can be written now. So few are always said to be there: asking the system would take
 * longer than writing them. */
enum { RAM_UNASKED_BYTES = 64 << 20 };
bool system_memory_has(int64_t bytes);

#endif
