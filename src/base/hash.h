/* The 64-bit FNV-1a hash (Fowler, Noll, Vo). */
#ifndef RQL_BASE_HASH_H
#define RQL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The hash of empty input. */
uint64_t hash_init(void);

/* `hash` continued with `size` bytes. */
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size);

/* `hash` continued with the text and its NUL, so that "ab", "c" and "a", "bc" differ. */
uint64_t hash_text(uint64_t hash, const char *text);

#endif
