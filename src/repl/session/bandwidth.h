/* Measures the host's memory bandwidth. */
#ifndef RQL_REPL_SESSION_BANDWIDTH_H
#define RQL_REPL_SESSION_BANDWIDTH_H

#include <stdint.h>

/* Returns the rate, in bytes/ns, at which all processors together read a buffer of `bytes` (at least some thousands)
 * repeatedly; caches may hold it. 0 without memory. */
double read_bandwidth(int64_t bytes);

#endif
