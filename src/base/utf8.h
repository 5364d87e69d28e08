/* Reading UTF-8 strictly: what is not well formed is never taken for a character. */
#ifndef RQL_BASE_UTF8_H
#define RQL_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the code point at the start of `length` bytes into *code and returns how many bytes it takes; returns 0,
 * with *code unchanged, if there is none: no bytes, a stray byte, an overlong form, a surrogate, or a cut-off end. */
size_t utf8_decode(const char *text, size_t length, uint32_t *code);

/* Encodes a code point into up to four bytes and returns how many; what is none, or a surrogate, becomes U+FFFD. */
size_t utf8_encode(uint32_t code, char *text);

/* Whether a terminal might act on the code point instead of drawing it: C0 and C1 controls, and the marks that
 * turn the direction of writing. */
bool utf8_is_control(uint32_t code);

/* The terminal cells a code point takes: 0 for combining marks, 2 for East Asian wide characters and emoji, else 1. */
unsigned utf8_cells(uint32_t code);

#endif
