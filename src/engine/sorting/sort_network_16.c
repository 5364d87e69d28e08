/* The networks of sort_network.c, for two lists at once: the halves of a row of 64 bytes, which has 16 lanes for each.
 */
#include "engine/sorting/sort_network_16.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define SIMD __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl")))
/* Inlined where rows and so on are constants. */
#define INLINED SIMD static inline __attribute__((always_inline))

typedef __m512i row;

enum { MOST_ROWS = 16, LANES = 16 /* of a list */ };

/* Lane i of each half takes lane i ^ by. */
INLINED row lanes_xor(row words, int by)
{
    const row bytes = _mm512_set4_epi32(0x0f0e0d0c, 0x0b0a0908, 0x07060504, 0x03020100);
    const row quarters = by < 8 ? words : _mm512_permutex_epi64(words, 0x4e);
    const int within = 2 * (by & 7);
    return within == 0 ? quarters
                       : _mm512_shuffle_epi8(quarters, _mm512_xor_si512(bytes, _mm512_set1_epi8((char)within)));
}

/* The lanes whose numbers have this bit. */
INLINED __mmask32 lanes_with(int bit)
{
    return bit == 1 ? 0xaaaaaaaa : bit == 2 ? 0xcccccccc : bit == 4 ? 0xf0f0f0f0 : 0xff00ff00;
}

INLINED void compare(row *v, int i, int j)
{
    const row a = v[i], b = v[j];
    v[i] = _mm512_min_epu16(a, b);
    v[j] = _mm512_max_epu16(a, b);
}

INLINED void sort_columns_of_4(row *v)
{
    compare(v, 0, 1);
    compare(v, 2, 3);
    compare(v, 0, 2);
    compare(v, 1, 3);
    compare(v, 1, 2);
}

/* Batcher's odd-even merge of sorted columns, of four or eight words each. */
INLINED void merge_4(row *v)
{
    for (int i = 0; i < 4; i++)
        compare(v, i, i + 4);
    for (int i = 2; i < 4; i++)
        compare(v, i, i + 2);
    for (int i = 1; i < 7; i += 2)
        compare(v, i, i + 1);
}

INLINED void merge_8(row *v)
{
    for (int i = 0; i < 8; i++)
        compare(v, i, i + 8);
    for (int i = 4; i < 8; i++)
        compare(v, i, i + 4);
    for (int i = 2; i < 4; i++) {
        compare(v, i, i + 2);
        compare(v, i + 4, i + 6);
        compare(v, i + 8, i + 10);
    }
    for (int i = 1; i < 15; i += 2)
        compare(v, i, i + 1);
}

INLINED void sort_columns(row *v, int rows)
{
    for (int i = 0; i < rows; i += 4)
        sort_columns_of_4(v + i);
    if (rows >= 8)
        merge_4(v);
    if (rows == 16) {
        merge_4(v + 8);
        merge_8(v);
    }
}

/* Compares rows at this distance and half, a quarter ... of it. */
INLINED void compare_rows(row *v, int rows)
{
    for (int r = 0; r < 8 && rows == 16; r++)
        compare(v, r, r + 8);
    for (int r = 0; r < rows && rows >= 8; r += 8) {
        compare(v, r, r + 4);
        compare(v, r + 1, r + 5);
        compare(v, r + 2, r + 6);
        compare(v, r + 3, r + 7);
    }
    for (int r = 0; r < rows; r += 4) {
        compare(v, r, r + 2);
        compare(v, r + 1, r + 3);
        compare(v, r, r + 1);
        compare(v, r + 2, r + 3);
    }
}

/* Merges sorted groups of `columns` / 2 columns into groups of `columns`, as in sort_network.c. */
INLINED void merge_columns(row *v, int rows, int columns)
{
    const __mmask32 second = lanes_with(columns / 2);
    for (int r = 0; r < rows / 2; r++) {
        const row a = v[r], b = v[rows - 1 - r];
        const row a_reversed = lanes_xor(a, columns - 1), b_reversed = lanes_xor(b, columns - 1);
        v[r] = _mm512_mask_max_epu16(_mm512_min_epu16(a, b_reversed), second, a, b_reversed);
        v[rows - 1 - r] = _mm512_mask_max_epu16(_mm512_min_epu16(b, a_reversed), second, b, a_reversed);
    }
    for (int step = columns / 4; step >= 1; step /= 2) {
        for (int r = 0; r < rows; r++) {
            const row other = lanes_xor(v[r], step);
            v[r] = _mm512_mask_max_epu16(_mm512_min_epu16(v[r], other), lanes_with(step), v[r], other);
        }
    }
    compare_rows(v, rows);
}

/* Within quarters of rows: four rows become two columns of four words each. */
INLINED void transpose_4(const row *v, row *out)
{
    const row a = _mm512_unpacklo_epi16(v[0], v[1]), b = _mm512_unpackhi_epi16(v[0], v[1]);
    const row c = _mm512_unpacklo_epi16(v[2], v[3]), d = _mm512_unpackhi_epi16(v[2], v[3]);
    out[0] = _mm512_unpacklo_epi32(a, c);
    out[1] = _mm512_unpackhi_epi32(a, c);
    out[2] = _mm512_unpacklo_epi32(b, d);
    out[3] = _mm512_unpackhi_epi32(b, d);
}

/* The same of eight rows, which become columns. */
INLINED void transpose_8(const row *v, row *out)
{
    row upper[4], lower[4];
    transpose_4(v, upper);
    transpose_4(v + 4, lower);
    for (int i = 0; i < 4; i++) {
        out[2 * i] = _mm512_unpacklo_epi64(upper[i], lower[i]);
        out[2 * i + 1] = _mm512_unpackhi_epi64(upper[i], lower[i]);
    }
}

INLINED void store(row words, int half, uint32_t least, uint32_t *to)
{
    const __m256i list = half == 0 ? _mm512_castsi512_si256(words) : _mm512_extracti64x4_epi64(words, 1);
    _mm512_storeu_si512(to, _mm512_add_epi32(_mm512_cvtepu16_epi32(list), _mm512_set1_epi32((int)least)));
}

/* Turns columns into rows of a list each: those of the first, then those of the second. */
INLINED void transpose(const row *v, int rows, row *out)
{
    row first[MOST_ROWS], second[MOST_ROWS]; /* parts of columns that follow each other */
    row part[8];
    if (rows == 16) {
        transpose_8(v, first);
        transpose_8(v + 8, second);
    } else if (rows == 8) {
        transpose_8(v, part);
    } else {
        transpose_4(v, part);
    }
    for (int i = 0; i < rows / 2 && rows < 16; i++) {
        first[i] = part[2 * i];
        second[i] = part[2 * i + 1];
    }
    for (int i = 0; i < rows / 2; i++) {
        /* quarters of the first list, in the order of columns, then of the second one */
        out[i] = _mm512_permutex2var_epi64(first[i], _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), second[i]);
        out[rows / 2 + i] =
            _mm512_permutex2var_epi64(first[i], _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15), second[i]);
    }
}

INLINED __mmask16 lanes_below(int count)
{
    return (__mmask16)(count >= LANES ? 0xffff : count > 0 ? (1u << count) - 1 : 0);
}

INLINED void sort_rows(const struct sort_halves lists[2], uint32_t *sorted, int rows)
{
    row v[MOST_ROWS], out[MOST_ROWS];
    const row all = _mm512_set1_epi16(-1);
    const row least =
        _mm512_inserti64x4(_mm512_set1_epi16((short)lists[0].least), _mm256_set1_epi16((short)lists[1].least), 1);
    for (int r = 0; r < rows; r++) {
        const __mmask16 first = lanes_below(lists[0].count - r * LANES),
                        second = lanes_below(lists[1].count - r * LANES);
        const row words =
            _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_maskz_loadu_epi16(first, lists[0].words + r * LANES)),
                               _mm256_maskz_loadu_epi16(second, lists[1].words + r * LANES), 1);
        v[r] = _mm512_mask_sub_epi16(all, (__mmask32)first | (__mmask32)second << LANES, words, least);
    }
    sort_columns(v, rows);
    merge_columns(v, rows, 2);
    merge_columns(v, rows, 4);
    merge_columns(v, rows, 8);
    merge_columns(v, rows, 16);
    transpose(v, rows, out);
    for (int r = 0; r < rows; r++)
        store(out[r], 0, lists[0].least, sorted + r * LANES);
    for (int r = 0; r < rows; r++)
        store(out[r], 1, lists[1].least, sorted + lists[0].count + r * LANES);
}

SIMD void sort_network_16(const struct sort_halves lists[2], uint32_t *sorted)
{
    const int most = lists[0].count > lists[1].count ? lists[0].count : lists[1].count;
    if (most <= NETWORK_ROOM_16 / 4)
        sort_rows(lists, sorted, 4);
    else if (most <= NETWORK_ROOM_16 / 2)
        sort_rows(lists, sorted, 8);
    else
        sort_rows(lists, sorted, 16);
}

#else

void sort_network_16(const struct sort_halves lists[2], uint32_t *sorted)
{
    (void)lists, (void)sorted;
}

#endif
