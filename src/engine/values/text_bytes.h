/* Bytes of strings eight at a time, and what interners and dictionaries share. */
#ifndef RQL_ENGINE_VALUES_TEXT_BYTES_H
#define RQL_ENGINE_VALUES_TEXT_BYTES_H

#include "engine/values/dictionary.h"

#include "base/integer.h"

#include <stdbool.h>
#include <string.h>

/* The strings of an interner or a dictionary: string k is bytes offsets[k] .. offsets[k + 1] - 1. */
struct strings {
    const uint64_t *offsets;
    const char *bytes;
    size_t count;
    const uint32_t *tags; /* their hashes, or NULL */
};

/* The strings of an interner, in the order of their numbers; valid until another one is added. */
struct strings interner_strings(const struct interner *interner);

/* A seed for hashes that differs from process to process, so that no file can be made to collide. */
uint64_t text_seed(void);

/* A dictionary of `count` strings of `bytes` in all, with one reference for the caller, who fills in its count + 1
 * offsets and its bytes by the two functions below. Never NULL. */
struct dictionary *dictionary_reserve(size_t count, size_t bytes);
uint64_t *dictionary_offsets(struct dictionary *dictionary);
char *dictionary_bytes(struct dictionary *dictionary);

static inline struct text string_of(const struct strings *strings, size_t number)
{
    const uint64_t begin = strings->offsets[number];
    return (struct text){strings->bytes + begin, (size_t)(strings->offsets[number + 1] - begin)};
}

static inline uint64_t load_8_bytes(const char *at)
{
    uint64_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

/* The first `count` (up to 8) bytes, the first one lowest; then zeroes. */
static inline uint64_t load_bytes(const char *at, size_t count)
{
    if (count >= 8)
        return load_8_bytes(at);
    if (count >= 4) { /* two halves that may overlap */
        uint32_t first, last;
        memcpy(&first, at, sizeof first);
        memcpy(&last, at + count - 4, sizeof last);
        return first | (uint64_t)last << (8 * (count - 4));
    }
    uint64_t bytes = 0;
    for (size_t k = 0; k < count; k++)
        bytes |= (uint64_t)(unsigned char)at[k] << (8 * k);
    return bytes;
}

/* memcpy, without a call for short strings. */
static inline void copy_bytes(char *to, const char *from, size_t count)
{
    if (count >= 8 && count <= 16) { /* two halves that may overlap */
        memcpy(to, from, 8);
        memcpy(to + count - 8, from + count - 8, 8);
    } else if (count >= 4 && count < 8) {
        memcpy(to, from, 4);
        memcpy(to + count - 4, from + count - 4, 4);
    } else if (count > 0) {
        memcpy(to, from, count);
    }
}

static inline bool text_equal(struct text a, struct text b)
{
    if (a.length != b.length)
        return false;
    if (a.length <= 8)
        return load_bytes(a.at, a.length) == load_bytes(b.at, b.length);
    if (a.length > 64)
        return memcmp(a.at, b.at, a.length) == 0;
    size_t last = a.length - 8; /* the last eight bytes may overlap those before */
    for (size_t k = 0; k < last; k += 8) {
        if (load_8_bytes(a.at + k) != load_8_bytes(b.at + k))
            return false;
    }
    return load_8_bytes(a.at + last) == load_8_bytes(b.at + last);
}

static inline uint64_t text_hash_fold(uint64_t a, uint64_t b)
{
    uint128 product = (uint128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Multiplications of 64 by 64 bits whose halves are joined, as in Wang Yi's wyhash. */
static inline uint32_t text_hash(uint64_t seed, struct text text)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15), other = UINT64_C(0xd6e8feb86659fd93);
    uint64_t hash = seed;
    size_t left = text.length;
    for (; left > 8; left -= 8, text.at += 8)
        hash = text_hash_fold(hash ^ load_8_bytes(text.at), odd);
    hash = text_hash_fold(hash ^ load_bytes(text.at, left) ^ other, other ^ text.length);
    return (uint32_t)(text_hash_fold(hash, odd) >> 32);
}

#endif
