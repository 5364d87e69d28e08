/* Sort keys on a device: the code of a key is the distance of its encoding from the minimum or maximum, in as few bits
 * as possible. Codes are packed into words of up to 64 bits. */
#ifndef RQL_CL_OPERATORS_SORT_KEY_H
#define RQL_CL_OPERATORS_SORT_KEY_H

#include "cl/operators/column_minmax.h"

struct sort_key {
    struct column *column;
    bool descending;
    struct column_minmax bounds;
    int bits;
    size_t word; /* 0 is the least significant */
    int shift;
};

/* Sets bounds and bits. The status is that of operator_end. */
enum status sort_key_measure(struct sort_key *key, struct accelerator *accelerator, const struct operator_job *job);

/* Whether the element's bits can be recovered from the code. */
bool sort_key_is_lossless(const struct sort_key *key);

/* Packs keys, most significant first, into words; returns the number of words. bits[w] is set to the bits used of word
 * w; it has an entry per key. */
size_t sort_keys_pack(struct sort_key *keys, size_t count, int *bits);

/* Constants of a key for kernels: code = (encoding ^ flip) - base, or nan; in the word at shift, under mask. */
enum { SORT_KEY_FLIP, SORT_KEY_BASE, SORT_KEY_NAN, SORT_KEY_SHIFT, SORT_KEY_MASK, SORT_KEY_CONSTANTS };
void sort_key_constants(const struct sort_key *key, cl_ulong *constants);

#endif
