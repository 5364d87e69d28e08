/* The memory available to this process. */
#ifndef RQL_BASE_MEMORY_SIZE_H
#define RQL_BASE_MEMORY_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of memory that this process may use: the machine's, or the limit of the process or its control group (as in
 * containers) if lower. */
int64_t system_memory_bytes(void);

/* Bytes of that memory that are free or hold only file pages. */
int64_t system_memory_free_bytes(void);

/* Bytes of memory that this process has written to and that are no pages of files. */
int64_t process_memory_bytes(void);

/* Whether `bytes` more can be written now. Up to MEMORY_UNCHECKED_BYTES always can: asking the kernel would take longer
 * than writing them. */
enum { MEMORY_UNCHECKED_BYTES = 64 << 20 };
bool system_memory_has(int64_t bytes);

#endif
