#include "engine/parquet/encodings.h"

#include "base/integer.h"

#include <string.h>

/* Loads at the last value of a group exceed it by at most this. */
enum { EXCESS = 16 };

static void unpack_by_shifts(const uint8_t *in, unsigned width, size_t groups, uint32_t *out)
{
    const uint64_t mask = ((uint64_t)1 << width) - 1;
    for (size_t i = 0; i < groups * UNPACK_GROUP; i++) {
        uint64_t bits;
        memcpy(&bits, in + i * width / 8, sizeof bits);
        out[i] = (uint32_t)(bits >> i * width % 8 & mask);
    }
}

#ifdef __x86_64__
#include <immintrin.h>

enum { MAX_SHUFFLED = 25 /* bits, which lie within four bytes wherever they begin */ };

/* Eight values begin at a byte, and four take up to 13 bytes: those of four values are moved to the four lanes of half
 * a vector, and there shifted. */
__attribute__((target("avx2"))) static void unpack_by_shuffles(const uint8_t *in, unsigned width, size_t groups,
                                                               uint32_t *out)
{
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 0, 1, 2, 3), all_widths = _mm256_set1_epi32((int)width);
    const int begin = (int)(4 * width % 8); /* of the second half */
    const __m256i begins = _mm256_setr_epi32(0, 0, 0, 0, begin, begin, begin, begin);
    const __m256i bits = _mm256_add_epi32(_mm256_mullo_epi32(lanes, all_widths), begins);
    const __m256i shifts = _mm256_and_si256(bits, _mm256_set1_epi32(7));
    const __m256i first_bytes = _mm256_mullo_epi32(_mm256_srli_epi32(bits, 3), _mm256_set1_epi32(0x01010101));
    const __m256i bytes = _mm256_add_epi32(first_bytes, _mm256_set1_epi32(0x03020100));
    const __m256i mask = _mm256_set1_epi32((1 << width) - 1);
    for (size_t i = 0; i < groups * UNPACK_GROUP; i += 8, in += width) {
        const __m128i low = _mm_loadu_si128((const __m128i *)(const void *)in);
        const __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(in + width / 2));
        const __m256i moved = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), bytes);
        const __m256i values = _mm256_and_si256(_mm256_srlv_epi32(moved, shifts), mask);
        _mm256_storeu_si256((__m256i *)(void *)(out + i), values);
    }
}

static void unpack(const uint8_t *in, unsigned width, size_t groups, uint32_t *out)
{
    if (width <= MAX_SHUFFLED && __builtin_cpu_supports("avx2"))
        unpack_by_shuffles(in, width, groups, out);
    else
        unpack_by_shifts(in, width, groups, out);
}
#else
static void unpack(const uint8_t *in, unsigned width, size_t groups, uint32_t *out)
{
    unpack_by_shifts(in, width, groups, out);
}
#endif

void bit_unpack(const uint8_t *in, size_t size, unsigned width, size_t groups, uint32_t *out)
{
    const size_t bytes = (size_t)4 * width;
    size_t i = size < EXCESS ? 0 : width == 0 ? groups : (size - EXCESS) / bytes;
    i = i < groups ? i : groups;
    unpack(in, width, i, out);
    for (; i < groups; i++) {
        uint8_t last[4 * UNPACK_MAX_WIDTH + EXCESS] = {0};
        if (i * bytes < size)
            memcpy(last, in + i * bytes, size - i * bytes < bytes ? size - i * bytes : bytes);
        unpack(last, width, 1, out + i * UNPACK_GROUP);
    }
}

uint64_t bit_unpack_one(const uint8_t *in, size_t size, unsigned width, uint64_t index)
{
    uint8_t bytes[16] = {0};
    const uint64_t bit = index * width;
    const size_t at = (size_t)(bit / 8);
    if (at < size)
        memcpy(bytes, in + at, size - at < sizeof bytes ? size - at : sizeof bytes);
    uint128 bits;
    memcpy(&bits, bytes, sizeof bits);
    const uint64_t value = (uint64_t)(bits >> bit % 8);
    return width < 64 ? value & (((uint64_t)1 << width) - 1) : value;
}

/* Eight bits as eight bytes: each byte keeps its bit, which is moved to its place by a carry. */
static inline uint64_t expand_byte(uint8_t bits)
{
    const uint64_t kept = bits * 0x0101010101010101u & 0x8040201008040201u;
    return (kept + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
}

size_t bit_expand(const uint8_t *in, size_t count, uint8_t *out)
{
    size_t ones = 0;
    for (size_t i = 0; i < count; i += 8) {
        uint8_t bits = in[i / 8];
        if (count - i < 8)
            bits = (uint8_t)(bits & ((1u << (count - i)) - 1));
        uint64_t bytes = expand_byte(bits);
        memcpy(out + i, &bytes, count - i < sizeof bytes ? count - i : sizeof bytes);
        ones += (size_t)__builtin_popcount(bits);
    }
    return ones;
}
