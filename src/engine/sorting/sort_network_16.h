/* Sorting networks of 16-bit words, for processors with AVX-512 (sort_network.h has wider ones). */
#ifndef RQL_ENGINE_SORTING_SORT_NETWORK_16_H
#define RQL_ENGINE_SORTING_SORT_NETWORK_16_H

#include <stdint.h>

enum { NETWORK_ROOM_16 = 256 };

/* Numbers between `least` and least + 65535, of which `words` are the lower halves. */
struct sort_halves {
    const uint16_t *words;
    int count;
    uint32_t least;
};

/* Sorts two lists of up to that many numbers; the sorted second one follows the first. `sorted` has room for the first
 * and that many more, and all of it may be written. Only where sort_network_works(). */
void sort_network_16(const struct sort_halves lists[2], uint32_t *sorted);

#endif
