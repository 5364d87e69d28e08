/* Copies that bypass the caches. */
#ifndef RQL_BASE_NONTEMPORAL_COPY_H
#define RQL_BASE_NONTEMPORAL_COPY_H

#include <stddef.h>

/* memcpy with non-temporal stores: the destination is neither read into the caches first nor kept there, which saves a
 * third of the traffic when it is larger than they are. Ordered for other threads like memcpy. */
void copy_nontemporal(void *to, const void *from, size_t size);

/* The same of whole lines at places aligned to them; ordered for other threads only by stream_fence. */
enum { STREAM_LINE = 64 };
void stream_lines(void *to, const void *from, size_t lines);
void stream_fence(void);

#endif
