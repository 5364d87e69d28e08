/* Writing what will not be read soon. */
#ifndef RQL_BASE_NONTEMPORAL_COPY_H
#define RQL_BASE_NONTEMPORAL_COPY_H

#include <stddef.h>

/* Copies bytes, which do not overlap, without having the memory they go to read into the caches first, as stores
 * usually do, nor kept there: two thirds of the traffic, where the result is larger than they are. Other threads see
 * them as they would memcpy's. */
void copy_nontemporal(void *to, const void *from, size_t size);

#endif
