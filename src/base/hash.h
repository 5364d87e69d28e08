/* FNV-1a of 64 bits, by Fowler, Noll and Vo. */
#ifndef RQL_BASE_HASH_H
#define RQL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The hash of no bytes. */
uint64_t hash_init(void);

/* The hash of what `hash` is of and these bytes behind it. */
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size);

/* The same with a text's characters and its terminating zero, so that "ab", "c" and "a", "bc" differ. */
uint64_t hash_text(uint64_t hash, const char *text);

#endif
