/* The places of a character in blocks of 64, as bits: bit k stands for character k of the block. */
#ifndef RQL_ENGINE_TEXT_PLACES_H
#define RQL_ENGINE_TEXT_PLACES_H

#include <stddef.h>
#include <stdint.h>

enum {
    PLACES_BLOCK = 64,
    PLACES_BLOCKS = 64, /* at most, for each call */
    PLACES_BYTES = PLACES_BLOCK * PLACES_BLOCKS
};

/* Sets places[b] to the places of `c` in block b of the text, of which `length` characters are left; those behind them
 * are not read and are none. Returns the number of blocks. */
size_t places_find(const char *text, size_t length, char c, uint64_t places[PLACES_BLOCKS]);

/* Bit k of the result: an odd number of the bits 0..k is set. */
static inline uint64_t parities(uint64_t bits)
{
    for (int shift = 1; shift < 64; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

#endif
