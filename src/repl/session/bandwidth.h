/* How fast memory can be read. */
#ifndef RQL_REPL_SESSION_BANDWIDTH_H
#define RQL_REPL_SESSION_BANDWIDTH_H

#include <stdint.h>

/* How fast all processors together read so many bytes (at least some thousands) again and again, which caches may hold,
 * in bytes a nanosecond; 0 if there is no memory to try. */
double read_bandwidth(int64_t bytes);

#endif
