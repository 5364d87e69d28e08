/* Finding characters eight bytes at a time. The machine is little-endian, so the first character is the lowest byte.
 * Inline, because a cell is often shorter than that. */
#ifndef RQL_ENGINE_TEXT_SCAN_H
#define RQL_ENGINE_TEXT_SCAN_H

#include <stdint.h>
#include <string.h>

static inline uint64_t load_word(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* The character in each byte. */
static inline uint64_t repeat_character(char c)
{
    return UINT64_C(0x0101010101010101) * (unsigned char)c;
}

/* The high bit of each byte that is 0. */
static inline uint64_t zero_bytes(uint64_t word)
{
    const uint64_t lows = UINT64_C(0x7f7f7f7f7f7f7f7f);
    return ~(((word & lows) + lows) | word | lows);
}

/* The number of the first byte whose high bit is set; there is one. */
static inline int first_byte(uint64_t bits)
{
    return __builtin_ctzll(bits) / 8;
}

/* The first of three characters, or `end`. */
static inline const char *find_any(const char *at, const char *end, char a, char b, char c)
{
    const uint64_t all_a = repeat_character(a), all_b = repeat_character(b), all_c = repeat_character(c);
    for (; end - at >= 8; at += 8) {
        uint64_t word = load_word(at);
        uint64_t found = zero_bytes(word ^ all_a) | zero_bytes(word ^ all_b) | zero_bytes(word ^ all_c);
        if (found)
            return at + first_byte(found);
    }
    while (at < end && *at != a && *at != b && *at != c)
        at++;
    return at;
}

/* Skips a \r before a newline or the end. */
static inline const char *skip_return(const char *at, const char *end)
{
    return at < end && *at == '\r' && (at + 1 == end || at[1] == '\n') ? at + 1 : at;
}

#endif
