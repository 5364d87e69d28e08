/* The 64-bit FNV-1a hash (Fowler, Noll, Vo), and numbers that look random. */
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

/* The next number of the sequence of splitmix64 that *state is in (Steele, Lea, Flood, "Fast splittable pseudorandom
 * number generators", OOPSLA 2014). */
uint64_t splitmix64(uint64_t *state);

/* A number like a random one for each number: the same, shortened. */
uint64_t scattered(uint64_t number);

#endif
