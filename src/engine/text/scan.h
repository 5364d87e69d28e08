/* Finding characters in cells. */
#ifndef RQL_ENGINE_TEXT_SCAN_H
#define RQL_ENGINE_TEXT_SCAN_H

#include "base/text_words.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The first of three characters, or `end`. */
static inline const char *find_any(const char *at, const char *end, char a, char b, char c)
{
    const uint64_t all_a = repeat_character(a), all_b = repeat_character(b), all_c = repeat_character(c);
    for (; end - at >= 8; at += 8) {
        const uint64_t word = load_word(at);
        const uint64_t found = zero_bytes(word ^ all_a) | zero_bytes(word ^ all_b) | zero_bytes(word ^ all_c);
        if (found)
            return at + first_byte(found);
    }
    while (at < end && *at != a && *at != b && *at != c)
        at++;
    return at;
}

/* The first quote, backslash or newline, or `end`. */
static inline const char *find_in_string(const char *at, const char *end)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), escape = _mm_set1_epi8('\\'), newline = _mm_set1_epi8('\n');
    for (; end - at >= 16; at += 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        const __m128i marks = _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, escape));
        const int found = _mm_movemask_epi8(_mm_or_si128(marks, _mm_cmpeq_epi8(bytes, newline)));
        if (found)
            return at + __builtin_ctz((unsigned)found);
    }
#endif
    return find_any(at, end, '"', '\\', '\n');
}

/* Skips a \r before a newline or the end. */
static inline const char *skip_return(const char *at, const char *end)
{
    return at < end && *at == '\r' && (at + 1 == end || at[1] == '\n') ? at + 1 : at;
}

/* The end of a cell without a \r before a newline or the end of all cells. */
static inline const char *without_return(const char *begin, const char *at, const char *end)
{
    return at - (at > begin && at[-1] == '\r' && (at == end || *at == '\n'));
}

#endif
