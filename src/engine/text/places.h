/* The places of a character among 64, as bits: bit k stands for byte k. */
#ifndef RQL_ENGINE_TEXT_PLACES_H
#define RQL_ENGINE_TEXT_PLACES_H

#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>

/* Inlined so that it is compiled for the caller's level (base/cpu_dispatch.h). */
static inline __attribute__((always_inline)) uint64_t places_of(const char *at, char c)
{
    const __m128i all = _mm_set1_epi8(c);
    uint64_t places = 0;
    for (int i = 0; i < 64; i += 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(at + i));
        places |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, all)) << i;
    }
    return places;
}
#else
#include "engine/text/scan.h"

/* The high bits of the bytes are gathered by a multiplication whose partial products do not overlap. */
static inline uint64_t places_of(const char *at, char c)
{
    const uint64_t all = repeat_character(c);
    uint64_t places = 0;
    for (int i = 0; i < 64; i += 8)
        places |= ((zero_bytes(load_word(at + i) ^ all) >> 7) * UINT64_C(0x0102040810204080)) >> 56 << i;
    return places;
}
#endif

/* Bit k of the result: an odd number of the bits 0..k is set. */
static inline __attribute__((always_inline)) uint64_t parities(uint64_t bits)
{
    for (int shift = 1; shift < 64; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

#endif
