/* Text eight bytes at a time. The machine is little-endian, so the first character is the lowest byte. Inline, because
 * what is read is often shorter than that. */
#ifndef RQL_BASE_TEXT_WORDS_H
#define RQL_BASE_TEXT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
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

/* The last `length` characters before `end`, at most eight, behind zeroes. Eight bytes before `end` are readable. */
static inline uint64_t load_digits(const char *end, size_t length)
{
    const uint64_t before = length < 8 ? UINT64_MAX >> 8 * length : 0;
    const uint64_t word = load_word(end - 8);
    return word ^ ((word ^ repeat_character('0')) & before);
}

/* Whether the word is eight digits, the first in its lowest byte, and the number that they write. Neighbours are added
 * up three times (Lemire, "Quickly parsing eight digits", 2018). */
static inline bool eight_digits(uint64_t word, uint64_t *value)
{
    const uint64_t digits = word ^ repeat_character('0');
    const uint64_t above_nine = (digits + UINT64_C(0x7676767676767676)) | digits;
    const uint64_t pairs = digits * 10 + (digits >> 8); /* in bytes 0, 2, 4 and 6 */
    const uint64_t mask = UINT64_C(0x000000ff000000ff);
    *value =
        ((pairs & mask) * UINT64_C(0x000f424000000064) + (pairs >> 16 & mask) * UINT64_C(0x0000271000000001)) >> 32;
    return (above_nine & UINT64_C(0x8080808080808080)) == 0;
}

#endif
