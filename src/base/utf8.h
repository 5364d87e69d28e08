/* Strict UTF-8: malformed sequences are never decoded. */
#ifndef RQL_BASE_UTF8_H
#define RQL_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the code point at the start of `length` bytes into *code and returns its length in bytes. Returns 0 and
 * leaves *code alone for empty input, a stray byte, an overlong form, a surrogate or a truncated sequence. */
size_t utf8_decode(const char *text, size_t length, uint32_t *code);

/* Whether the bytes are UTF-8 throughout. */
bool utf8_is_valid(const char *text, size_t length);

/* Whether the byte is within a code point, not its first. */
static inline bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Encodes a code point into up to four bytes and returns their number; invalid code points and surrogates become
 * U+FFFD. */
size_t utf8_encode(uint32_t code, char *text);

/* Whether a terminal may interpret the code point instead of drawing it: C0 and C1 controls, and bidirectional
 * formatting characters. */
bool utf8_is_control(uint32_t code);

/* The terminal cells of a code point: 0 for combining marks, 2 for East Asian wide characters and emoji, else 1. */
unsigned utf8_cells(uint32_t code);

#endif
