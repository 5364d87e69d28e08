/* The inner loops of sorting, compiled for several levels of a processor. */
#ifndef RQL_ENGINE_SORTING_SORT_LEVEL_H
#define RQL_ENGINE_SORTING_SORT_LEVEL_H

#include "engine/sorting/sort_positions.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    SORT_BIN_ROOM = 256, /* the most words that any level sorts at once */
    SORT_STRETCHES = 1 << 16
};

struct sort_level {
    const char *name;
    int room_32, room_64; /* words that are sorted at once; powers of two */

    /* Divides all positions into `stretches`, at most SORT_STRETCHES, and writes in which are those of `count` elements
     * of a width of 4, 8 or 16 bytes. */
    void (*divide)(const struct sort_positions *by, uint32_t stretches, const void *elements, size_t width, int count,
                   uint32_t *numbers);

    /* Lowers *least and raises *most to the keys of these elements. */
    void (*bounds)(const struct sort_key_place *key, const void *elements, size_t width, int count, uint64_t *least,
                   uint64_t *most);

    /* Sort up to as many words as there is room for; `sorted` has this room, and all of it may be written. */
    void (*sort_32)(const uint32_t *words, int count, uint32_t *sorted);
    void (*sort_64)(const uint64_t *words, int count, uint64_t *sorted);

    /* Sorts up to room_64 elements stably by their keys. False, without effect: the keys differ in too many bits. */
    bool (*sort_elements)(const struct sort_key_place *key, const void *elements, size_t width, int count,
                          void *sorted);
};

/* Level `i`, the best first, of those that this processor has; NULL behind the last. */
const struct sort_level *sort_level_at(int i);

/* sort_network.c: sorting networks on vectors of 64 bytes, for processors with AVX-512. */

enum { NETWORK_ROOM_32 = 256, NETWORK_ROOM_64 = 128 };

bool sort_network_works(void); /* on this processor; the others must not be called elsewhere */

/* Sort up to that many words; `sorted` has this room, and all of it may be written. */
void sort_network_32(const uint32_t *words, int count, uint32_t *sorted);
void sort_network_64(const uint64_t *words, int count, uint64_t *sorted);

#endif
