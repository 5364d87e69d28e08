/* How much memory there is. */
#ifndef RQL_RAM_H
#define RQL_RAM_H

#include <stdint.h>

/* Bytes of memory that this process could use at most: the machine's, less if a limit is set on the process or (with
 * cgroups, as in containers) on its group. */
int64_t ram_bytes(void);

#endif
