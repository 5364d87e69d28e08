/* Sorting networks on vectors of 64 bytes, for processors with AVX-512. */
#ifndef RQL_ENGINE_SORTING_SORT_NETWORK_H
#define RQL_ENGINE_SORTING_SORT_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

enum { NETWORK_ROOM_32 = 256, NETWORK_ROOM_64 = 128 };

bool sort_network_works(void); /* on this processor; the others must not be called elsewhere */

/* Sort up to that many words; `sorted` has this room, and all of it may be written. */
void sort_network_32(const uint32_t *words, int count, uint32_t *sorted);
void sort_network_64(const uint64_t *words, int count, uint64_t *sorted);

#endif
