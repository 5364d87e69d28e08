/* The words are rows of one vector each. Each column is sorted by a network of few comparators (Knuth, The Art of
 * Computer Programming, vol. 3, 5.3.4; the one of 16 rows is Green's), then columns are merged in pairs by bitonic
 * networks, as in Wassenberg, Blacher, Giesen and Sanders, "Vectorized and performance-portable Quicksort", 2022. The
 * sorted columns are transposed at the end. */
#include "engine/sorting/sort_level.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <stddef.h>

#define SIMD __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl")))
/* Inlined where bits, rows and so on are constants. */
#define INLINED SIMD static inline __attribute__((always_inline))

typedef __m512i row;

enum { MOST_ROWS = 16, ROW_BYTES = 64 };

bool sort_network_works(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}

INLINED row lesser(row a, row b, int bits)
{
    return bits == 32 ? _mm512_min_epu32(a, b) : _mm512_min_epu64(a, b);
}

/* The greater words in the lanes of the mask, elsewhere those of `others`. */
INLINED row greater_in(row others, unsigned mask, row a, row b, int bits)
{
    return bits == 32 ? _mm512_mask_max_epu32(others, (__mmask16)mask, a, b)
                      : _mm512_mask_max_epu64(others, (__mmask8)mask, a, b);
}

/* Exchanges lanes: lane i takes lane i ^ by. */
INLINED row lanes_xor(row words, int by, int bits)
{
    if (bits == 32) {
        const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        return _mm512_permutexvar_epi32(_mm512_xor_si512(lanes, _mm512_set1_epi32(by)), words);
    }
    const __m512i lanes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm512_permutexvar_epi64(_mm512_xor_si512(lanes, _mm512_set1_epi64(by)), words);
}

/* The lanes whose numbers have this bit. */
INLINED unsigned lanes_with(int bit)
{
    return bit == 1 ? 0xaaaa : bit == 2 ? 0xcccc : bit == 4 ? 0xf0f0 : 0xff00;
}

INLINED void compare(row *v, int i, int j, int bits)
{
    const row a = v[i], b = v[j];
    v[i] = lesser(a, b, bits);
    v[j] = bits == 32 ? _mm512_max_epu32(a, b) : _mm512_max_epu64(a, b);
}

INLINED void compare_two(row *v, int a, int b, int c, int d, int bits)
{
    compare(v, a, b, bits);
    compare(v, c, d, bits);
}

INLINED void compare_four(row *v, int a, int b, int c, int d, int e, int f, int g, int h, int bits)
{
    compare_two(v, a, b, c, d, bits);
    compare_two(v, e, f, g, h, bits);
}

INLINED void sort_columns_of_8(row *v, int bits)
{
    compare_four(v, 0, 2, 1, 3, 4, 6, 5, 7, bits);
    compare_four(v, 0, 4, 1, 5, 2, 6, 3, 7, bits);
    compare_four(v, 0, 1, 2, 3, 4, 5, 6, 7, bits);
    compare_two(v, 2, 4, 3, 5, bits);
    compare_two(v, 1, 4, 3, 6, bits);
    compare(v, 1, 2, bits);
    compare_two(v, 3, 4, 5, 6, bits);
}

INLINED void sort_columns_of_16(row *v, int bits)
{
    for (int i = 0; i < 16; i += 8)
        compare_four(v, i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7, bits);
    for (int i = 0; i < 16; i += 8)
        compare_four(v, i, i + 2, i + 1, i + 3, i + 4, i + 6, i + 5, i + 7, bits);
    for (int i = 0; i < 16; i += 8)
        compare_four(v, i, i + 4, i + 1, i + 5, i + 2, i + 6, i + 3, i + 7, bits);
    for (int i = 0; i < 8; i += 4)
        compare_four(v, i, i + 8, i + 1, i + 9, i + 2, i + 10, i + 3, i + 11, bits);
    compare_four(v, 5, 10, 6, 9, 3, 12, 13, 14, bits);
    compare_two(v, 4, 8, 7, 11, bits);
    compare(v, 1, 2, bits);
    compare_four(v, 1, 4, 7, 13, 2, 8, 11, 14, bits);
    compare_four(v, 2, 4, 5, 6, 9, 10, 11, 13, bits);
    compare_two(v, 3, 8, 7, 12, bits);
    compare_four(v, 6, 8, 10, 12, 3, 5, 7, 9, bits);
    compare_four(v, 3, 4, 5, 6, 7, 8, 9, 10, bits);
    compare(v, 11, 12, bits);
    compare_two(v, 6, 7, 8, 9, bits);
}

/* Merges sorted groups of `columns` / 2 columns into groups of `columns`: the second group is reversed, which makes the
 * words bitonic; then words at half, a quarter ... of the distance are compared. */
INLINED void merge_columns(row *v, int rows, int columns, int bits)
{
    const unsigned second = lanes_with(columns / 2);
    for (int r = 0; r < rows / 2; r++) {
        const row a = v[r], b = v[rows - 1 - r];
        const row a_reversed = lanes_xor(a, columns - 1, bits), b_reversed = lanes_xor(b, columns - 1, bits);
        v[r] = greater_in(lesser(a, b_reversed, bits), second, a, b_reversed, bits);
        v[rows - 1 - r] = greater_in(lesser(b, a_reversed, bits), second, b, a_reversed, bits);
    }
    for (int step = columns / 4; step >= 1; step /= 2) {
        for (int r = 0; r < rows; r++) {
            const row other = lanes_xor(v[r], step, bits);
            v[r] = greater_in(lesser(v[r], other, bits), lanes_with(step), v[r], other, bits);
        }
    }
    for (int step = rows / 2; step >= 1; step /= 2) {
        for (int r = 0; r < rows; r++) {
            if ((r & step) == 0)
                compare(v, r, r + step, bits);
        }
    }
}

/* Transposes quarters of four rows. */
INLINED void transpose_quarters(row a, row b, row c, row d, row *out, int apart)
{
    const row p = _mm512_shuffle_i32x4(a, b, 0x44), q = _mm512_shuffle_i32x4(a, b, 0xee);
    const row r = _mm512_shuffle_i32x4(c, d, 0x44), s = _mm512_shuffle_i32x4(c, d, 0xee);
    out[0] = _mm512_shuffle_i32x4(p, r, 0x88);
    out[apart] = _mm512_shuffle_i32x4(p, r, 0xdd);
    out[2 * apart] = _mm512_shuffle_i32x4(q, s, 0x88);
    out[3 * apart] = _mm512_shuffle_i32x4(q, s, 0xdd);
}

/* Turns columns of 32-bit words into rows. */
INLINED void transpose_32(row *v, int rows)
{
    row part[4][4]; /* four rows of a column, of the columns i, i + 4, i + 8, i + 12 */
    for (int k = 0; k < rows / 4; k++) {
        const row *w = v + 4 * k;
        const row a = _mm512_unpacklo_epi32(w[0], w[1]), b = _mm512_unpackhi_epi32(w[0], w[1]);
        const row c = _mm512_unpacklo_epi32(w[2], w[3]), d = _mm512_unpackhi_epi32(w[2], w[3]);
        part[k][0] = _mm512_unpacklo_epi64(a, c);
        part[k][1] = _mm512_unpackhi_epi64(a, c);
        part[k][2] = _mm512_unpacklo_epi64(b, d);
        part[k][3] = _mm512_unpackhi_epi64(b, d);
    }
    if (rows == 16) {
        for (int i = 0; i < 4; i++)
            transpose_quarters(part[0][i], part[1][i], part[2][i], part[3][i], v + i, 4);
    } else {
        transpose_quarters(part[0][0], part[1][0], part[0][1], part[1][1], v, 2);
        transpose_quarters(part[0][2], part[1][2], part[0][3], part[1][3], v + 1, 2);
    }
}

INLINED void transpose_64(row *v, int rows)
{
    row even[8], odd[8]; /* two rows of the columns 2i and 2i + 1 in quarter i */
    for (int k = 0; k < rows / 2; k++) {
        even[k] = _mm512_unpacklo_epi64(v[2 * k], v[2 * k + 1]);
        odd[k] = _mm512_unpackhi_epi64(v[2 * k], v[2 * k + 1]);
    }
    const int apart = rows / 8;
    for (int k = 0; k < apart; k++) {
        transpose_quarters(even[4 * k], even[4 * k + 1], even[4 * k + 2], even[4 * k + 3], v + k, 2 * apart);
        transpose_quarters(odd[4 * k], odd[4 * k + 1], odd[4 * k + 2], odd[4 * k + 3], v + apart + k, 2 * apart);
    }
}

INLINED void sort_rows(const void *words, int count, void *sorted, int rows, int bits)
{
    row v[MOST_ROWS];
    const char *in = words;
    char *out = sorted;
    const int lanes = 512 / bits;
    for (int r = 0; r < rows; r++) {
        const int left = count - r * lanes;
        const unsigned mask = left >= lanes ? 0xffff : left > 0 ? (1u << left) - 1 : 0;
        const row all = _mm512_set1_epi32(-1);
        v[r] = bits == 32 ? _mm512_mask_loadu_epi32(all, (__mmask16)mask, in + (size_t)r * ROW_BYTES)
                          : _mm512_mask_loadu_epi64(all, (__mmask8)mask, in + (size_t)r * ROW_BYTES);
    }
    if (rows == 16)
        sort_columns_of_16(v, bits);
    else
        sort_columns_of_8(v, bits);
    merge_columns(v, rows, 2, bits);
    merge_columns(v, rows, 4, bits);
    merge_columns(v, rows, 8, bits);
    if (bits == 32) {
        merge_columns(v, rows, 16, bits);
        transpose_32(v, rows);
    } else {
        transpose_64(v, rows);
    }
    for (int r = 0; r < rows; r++)
        _mm512_storeu_si512(out + (size_t)r * ROW_BYTES, v[r]);
}

SIMD void sort_network_32(const uint32_t *words, int count, uint32_t *sorted)
{
    if (count <= NETWORK_ROOM_32 / 2)
        sort_rows(words, count, sorted, 8, 32);
    else
        sort_rows(words, count, sorted, 16, 32);
}

SIMD void sort_network_64(const uint64_t *words, int count, uint64_t *sorted)
{
    if (count <= NETWORK_ROOM_64 / 2)
        sort_rows(words, count, sorted, 8, 64);
    else
        sort_rows(words, count, sorted, 16, 64);
}

#else

bool sort_network_works(void)
{
    return false;
}

void sort_network_32(const uint32_t *words, int count, uint32_t *sorted)
{
    (void)words, (void)count, (void)sorted;
}

void sort_network_64(const uint64_t *words, int count, uint64_t *sorted)
{
    (void)words, (void)count, (void)sorted;
}

#endif
