/* Sort keys encoded as unsigned integers, for sort, group and distinct.
 *
 * A key's code is the distance of its image (sort_key_encode.c) from the least of the column, descending from the
 * greatest, so that it has only the bits that the column's range needs. Codes of several keys are packed into 64-bit
 * words, the first key most significant. Equal codes are equal keys: -0.0 equals 0.0, and NaNs are equal and last, in
 * descending order too. */
#ifndef RQL_ENGINE_SORTING_SORT_KEYS_H
#define RQL_ENGINE_SORTING_SORT_KEYS_H

#include "base/parallel.h"
#include "engine/storage/column.h"

enum { KEY_BLOCK = 1024 }; /* most rows read or written at once */

struct key {
    const struct column *column; /* of at least as many rows as are read */
    bool descending;
    bool faithful;        /* the code determines the element's bits: there is no -0.0, and all NaNs have the same */
    bool nan;             /* there may be a NaN, whose code is one more than the greatest */
    uint64_t nan_image;   /* of a faithful key's: its bits are flipped as a number's are */
    uint64_t least, most; /* of the elements' images, without NaN */
    int bits;             /* of the code */
    int word, shift;      /* its place in the words */
};

struct keys {
    struct key *at;
    size_t count;
    int words;      /* 0 is the most significant */
    int *word_bits; /* used bits of each, from bit 0 */
};

/* Finds the ranges of `count` keys, whose columns and directions are set, over `rows` rows, and assigns their places.
 * False if cancelled. Call keys_free in either case. */
bool keys_init(struct keys *keys, struct key *at, size_t count, int64_t rows, const struct workers *workers);
/* Without reading rows: ranges are those of the types, or of columns where known. */
void keys_init_by_type(struct keys *keys, struct key *at, size_t count);
void keys_free(struct keys *keys); /* but not the array `at` */

/* Reads a word of the codes of `count` rows from `row` on, or of the rows listed. */
void keys_read(const struct keys *keys, int word, int64_t row, int count, uint64_t *codes);
void keys_read_at(const struct keys *keys, int word, const uint64_t *rows, int count, uint64_t *codes);

/* For keys of one word of at most 32 bits. */
void keys_read_32(const struct keys *keys, int64_t row, int count, uint32_t *codes);

/* Decodes a faithful key from words, to elements of the key's store type: at `to`, or in a column from `row` on. */
void key_decode(const struct key *key, const uint64_t *words, int count, void *to);
void key_write(const struct key *key, const uint64_t *words, int count, struct column *to, int64_t row);

/* sort_key_alone.c: the codes (sort_keys.h) of a key that is the only one: between elements and codes in one vectorised
 * loop. Of a column of i32, 10^7 rows, two threads: a sort takes 1.5 to 1.8 times as long without these loops, a group
 * by a few keys 1.4.
 */

struct key_loops {
    void (*encode)(const struct key *key, const void *elements, int count, void *codes);
    void (*decode)(const struct key *key, const void *codes, int count, void *elements); /* of a faithful key */
};

/* For elements of a store type and codes of 4 or 8 bytes; NULL where there are none. */
const struct key_loops *key_loops_of(enum type store, size_t code_bytes);

#endif
