/* With AVX-512 VBMI2 a mask compresses a vector in one instruction; the portable loops go through the selection vector.
 */
#include "engine/vector/selection.h"

#include "base/cpu_dispatch.h"

#include <stdbool.h>
#include <string.h>

CPU_CLONES int selection_count(const uint8_t *mask, int count)
{
    enum { AT_ONCE = 64, MOST = UINT8_MAX * AT_ONCE };
    int passed = 0;
    int i = 0;
    while (count - i >= AT_ONCE) { /* byte sums, as many as fit */
        uint8_t sums[AT_ONCE] = {0};
        const int stop = count - i < MOST ? count - AT_ONCE : i + MOST - AT_ONCE;
        for (; i <= stop; i += AT_ONCE) {
            for (int j = 0; j < AT_ONCE; j++)
                sums[j] = (uint8_t)(sums[j] + mask[i + j]);
        }
        for (int j = 0; j < AT_ONCE; j++)
            passed += sums[j];
    }
    for (; i < count; i++)
        passed += mask[i];
    return passed;
}

/* Skips eight rows at once where none passed; else branch-free: the place behind the last row listed is overwritten
 * until a row belongs there. Returns how many are listed. */
static int list_portably(const uint8_t *mask, int begin, int count, uint16_t *rows)
{
    enum { AT_ONCE = 8 };
    int listed = 0;
    int i = begin;
    for (; i + AT_ONCE <= count; i += AT_ONCE) {
        uint64_t word;
        memcpy(&word, mask + i, sizeof word);
        if (word == 0)
            continue;
        for (int j = i; j < i + AT_ONCE; j++) {
            rows[listed] = (uint16_t)j;
            listed += mask[j];
        }
    }
    for (; i < count; i++) {
        if (mask[i])
            rows[listed++] = (uint16_t)i;
    }
    return listed;
}

/* Rows begin .. count-1, with `listed` rows listed before. */
static int list_few_portably(const uint8_t *mask, int begin, int count, int most, int listed, uint16_t *rows)
{
    enum { AT_ONCE = 8 };
    for (int i = begin; i < count && listed <= most; i += AT_ONCE) {
        const int some = count - i < AT_ONCE ? count - i : AT_ONCE;
        uint64_t word = 0;
        memcpy(&word, mask + i, (size_t)some);
        for (int j = i; word != 0 && j < i + some; j++) {
            rows[listed] = (uint16_t)j;
            listed += mask[j];
        }
    }
    return listed;
}

#if defined(__x86_64__)
#include <immintrin.h>

#define WITH_COMPRESS __attribute__((target("avx512f,avx512bw,avx512vbmi2,popcnt,bmi")))

static bool can_compress(void)
{
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi2");
}

WITH_COMPRESS static void list_compressed(const uint8_t *mask, int count, uint16_t *rows)
{
    enum { AT_ONCE = 32 };
    uint16_t first[AT_ONCE];
    for (int j = 0; j < AT_ONCE; j++)
        first[j] = (uint16_t)j;
    __m512i numbers = _mm512_loadu_si512(first);
    const __m512i step = _mm512_set1_epi16(AT_ONCE);
    int i = 0;
    for (; i + AT_ONCE <= count; i += AT_ONCE) {
        const __m512i bytes = _mm512_castsi256_si512(_mm256_loadu_si256((const void *)(mask + i)));
        const __mmask32 passed = (__mmask32)_mm512_test_epi8_mask(bytes, bytes);
        _mm512_storeu_si512(rows, _mm512_maskz_compress_epi16(passed, numbers));
        rows += __builtin_popcount(passed);
        numbers = _mm512_add_epi16(numbers, step);
    }
    list_portably(mask, i, count, rows);
}

/* Two of 64 are listed without a test, which would be mispredicted (0.5 ms of question 5 of data/questions.rql). */
WITH_COMPRESS static int list_few_in_vectors(const uint8_t *mask, int count, int most, uint16_t *rows)
{
    enum { AT_ONCE = 64 };
    int listed = 0;
    int i = 0;
    for (; i + AT_ONCE <= count && listed <= most; i += AT_ONCE) {
        const __m512i bytes = _mm512_loadu_si512(mask + i);
        uint64_t passed = _mm512_test_epi8_mask(bytes, bytes);
        uint16_t *next = rows + listed;
        listed += __builtin_popcountll(passed);
        *next++ = (uint16_t)(i + (int)_tzcnt_u64(passed));
        passed = _blsr_u64(passed);
        *next++ = (uint16_t)(i + (int)_tzcnt_u64(passed));
        for (passed = _blsr_u64(passed); passed != 0; passed = _blsr_u64(passed))
            *next++ = (uint16_t)(i + (int)_tzcnt_u64(passed));
    }
    return list_few_portably(mask, i, count, most, listed, rows);
}

/* Loops over 64 rows, whose elements are 1, 2, 4 or 8 vectors; they differ only in the instruction. A whole vector is
 * stored where fewer elements belong, but never behind the place of the last row read. */
#define PACK(bits, type)                                                                                               \
    WITH_COMPRESS static void pack_##bits(void *out, const void *elements, const uint8_t *mask, int count,             \
                                          const struct ahead *ahead)                                                   \
    {                                                                                                                  \
        enum { AT_ONCE = 64, IN_VECTOR = 512 / bits };                                                                 \
        const type *from = elements;                                                                                   \
        type *to = out;                                                                                                \
        int i = 0;                                                                                                     \
        for (int strip = 0; i + AT_ONCE <= count; i += AT_ONCE) {                                                      \
            if (i == strip)                                                                                            \
                strip = strip_end(ahead, i, count);                                                                    \
            const __m512i bytes = _mm512_loadu_si512(mask + i);                                                        \
            uint64_t passed = _mm512_test_epi8_mask(bytes, bytes);                                                     \
            for (int j = 0; j < AT_ONCE; j += IN_VECTOR) {                                                             \
                const mask_##bits part = (mask_##bits)passed;                                                          \
                const __m512i values = _mm512_loadu_si512(from + i + j);                                               \
                _mm512_storeu_si512(to, _mm512_maskz_compress_epi##bits(part, values));                                \
                to += __builtin_popcountll(part);                                                                      \
                passed = IN_VECTOR < AT_ONCE ? passed >> (IN_VECTOR % AT_ONCE) : 0;                                    \
            }                                                                                                          \
        }                                                                                                              \
        for (; i < count; i++) {                                                                                       \
            *to = from[i];                                                                                             \
            to += mask[i];                                                                                             \
        }                                                                                                              \
    }
/* One bit for each element of a vector. */
typedef __mmask64 mask_8;
typedef __mmask32 mask_16;
typedef __mmask16 mask_32;
typedef __mmask8 mask_64;
PACK(8, uint8_t)
PACK(16, uint16_t)
PACK(32, uint32_t)
PACK(64, uint64_t)

pack_fn *selection_packer(size_t size)
{
    if (!can_compress())
        return NULL;
    return size == 1 ? pack_8 : size == 2 ? pack_16 : size == 4 ? pack_32 : pack_64;
}

void selection_list(const uint8_t *mask, int count, uint16_t *rows)
{
    if (can_compress())
        list_compressed(mask, count, rows);
    else
        list_portably(mask, 0, count, rows);
}

int selection_list_few(const uint8_t *mask, int count, int most, uint16_t *rows)
{
    return can_compress() ? list_few_in_vectors(mask, count, most, rows)
                          : list_few_portably(mask, 0, count, most, 0, rows);
}

#else

pack_fn *selection_packer(size_t size)
{
    (void)size;
    return NULL;
}

void selection_list(const uint8_t *mask, int count, uint16_t *rows)
{
    list_portably(mask, 0, count, rows);
}

int selection_list_few(const uint8_t *mask, int count, int most, uint16_t *rows)
{
    return list_few_portably(mask, 0, count, most, 0, rows);
}

#endif

void selection_pack_listed(void *to, const void *from, const uint16_t *index, int count, size_t size)
{
    if (count > 0 && index[count - 1] == count - 1) {
        memmove(to, from, (size_t)count * size);
        return;
    }
    for (int i = 0; i < count && size == 1; i++)
        ((uint8_t *)to)[i] = ((const uint8_t *)from)[index[i]];
    for (int i = 0; i < count && size == 2; i++)
        ((uint16_t *)to)[i] = ((const uint16_t *)from)[index[i]];
    for (int i = 0; i < count && size == 4; i++)
        ((int32_t *)to)[i] = ((const int32_t *)from)[index[i]];
    for (int i = 0; i < count && size == 8; i++)
        ((int64_t *)to)[i] = ((const int64_t *)from)[index[i]];
}
