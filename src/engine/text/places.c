#include "engine/text/places.h"

#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>

#define WITH_MASKS __attribute__((target("avx512bw")))

WITH_MASKS static void find_by_masks(const char *text, size_t blocks, char c, uint64_t *places)
{
    const __m512i all = _mm512_set1_epi8(c);
    for (size_t b = 0; b < blocks; b++)
        places[b] = _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(text + b * PLACES_BLOCK), all);
}

static void find(const char *text, size_t blocks, char c, uint64_t *places)
{
    if (__builtin_cpu_supports("avx512bw")) {
        find_by_masks(text, blocks, c, places);
        return;
    }
    const __m128i all = _mm_set1_epi8(c);
    for (size_t b = 0; b < blocks; b++, text += PLACES_BLOCK) {
        places[b] = 0;
        for (int i = 0; i < PLACES_BLOCK; i += 16) {
            const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(text + i));
            places[b] |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, all)) << i;
        }
    }
}
#else
#include "base/text_words.h"

/* The high bits of the bytes are gathered by a multiplication whose partial products do not overlap. */
static void find(const char *text, size_t blocks, char c, uint64_t *places)
{
    const uint64_t all = repeat_character(c);
    for (size_t b = 0; b < blocks; b++, text += PLACES_BLOCK) {
        places[b] = 0;
        for (int i = 0; i < PLACES_BLOCK; i += 8) {
            const uint64_t found = zero_bytes(load_word(text + i) ^ all) >> 7;
            places[b] |= (found * UINT64_C(0x0102040810204080)) >> 56 << i;
        }
    }
}
#endif

size_t places_find(const char *text, size_t length, char c, uint64_t places[PLACES_BLOCKS])
{
    const size_t most = length / PLACES_BLOCK, blocks = most < PLACES_BLOCKS ? most : PLACES_BLOCKS;
    find(text, blocks, c, places);
    if (blocks == PLACES_BLOCKS || length % PLACES_BLOCK == 0)
        return blocks;
    char rest[PLACES_BLOCK] = {0};
    memcpy(rest, text + blocks * PLACES_BLOCK, length % PLACES_BLOCK);
    find(rest, 1, c, &places[blocks]);
    return blocks + 1;
}
