/* Keys as unsigned numbers in whose order the rows are to be: what sort, group and distinct work on.
 *
 * A key's code is its distance from the least (descending: from the greatest) of its column, so that it has no more
 * bits than the column's range needs. Codes of several keys stand side by side in a 64-bit word, the first the most
 * significant; where one word is not enough there are more. Equal codes mean equal keys: -0.0 and 0.0 are one, NaN is
 * one and the greatest, descending too. */
#ifndef RQL_ENGINE_OPERATORS_SORT_KEYS_H
#define RQL_ENGINE_OPERATORS_SORT_KEYS_H

#include "base/parallel.h"
#include "engine/storage/column.h"

enum { KEY_BLOCK = 1024 }; /* the most rows read or written at once */

struct key {
    const struct column *column; /* of at least as many rows as are read */
    bool descending;
    bool faithful;        /* the code tells the element's very bits: there is no NaN and no -0.0 */
    bool nan;             /* there is a NaN; its code is one more than all others */
    uint64_t least, most; /* of the elements' images (sort_keys.c) but NaN */
    int bits;             /* of the code */
    int word, shift;      /* where in the words it is */
};

struct keys {
    struct key *at;
    size_t count;
    int words;      /* 0 is the most significant */
    int *word_bits; /* used of each, from bit 0 */
};

/* Finds the ranges of `count` keys, whose columns and directions are set, over `rows` rows, and gives them places.
 * False if cancelled. keys_free is due in either case. */
bool keys_init(struct keys *keys, struct key *at, size_t count, int64_t rows, const struct workers *workers);
/* The same without a look at the rows: the ranges are those of the types, or what columns say. */
void keys_init_by_type(struct keys *keys, struct key *at, size_t count);
void keys_free(struct keys *keys); /* not the array `at` */

/* The codes of `count` rows from `row` on, or of the rows listed. */
void keys_read(const struct keys *keys, int word, int64_t row, int count, uint64_t *codes);
void keys_read_at(const struct keys *keys, int word, const uint64_t *rows, int count, uint64_t *codes);

/* The same where the word has at most 32 bits. */
void keys_read_32(const struct keys *keys, int64_t row, int count, uint32_t *codes);

/* Writes the elements that these words stand for to a column's rows from `row` on; the key must be faithful, and the
 * column stored like its own. */
void key_write(const struct key *key, const uint64_t *words, int count, struct column *to, int64_t row);

/* The same for codes alone in 32 bits, which may lie where the elements go; false, and nothing written, if the key's
 * elements do not have 32 bits of integer. */
bool key_write_32(const struct key *key, const uint32_t *codes, int64_t count, struct column *to, int64_t row);

#endif
