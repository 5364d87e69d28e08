/* Keys of a sort on a device: as in engine/sort_keys.h, a key's code is the distance of its element's encoding from the
 * least or the greatest, in as few bits as that takes. Codes of several keys stand side by side in words of up to 64
 * bits. */
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

/* Sets the bounds and the bits. The status is as from operator_end. */
enum status sort_key_measure(struct sort_key *key, struct accelerator *accelerator, const struct operator_job *job);

/* Whether the code tells the element's very bits. */
bool sort_key_is_lossless(const struct sort_key *key);

/* Gives each key, in order of significance, its place; returns the number of words. bits[w] are those used of word w:
 * there is room for as many as keys. */
size_t sort_keys_pack(struct sort_key *keys, size_t count, int *bits);

/* What a kernel needs to know of a key: code = (encoding ^ flip) - base, or nan; in the word at shift, under mask. */
enum { SORT_KEY_FLIP, SORT_KEY_BASE, SORT_KEY_NAN, SORT_KEY_SHIFT, SORT_KEY_MASK, SORT_KEY_CONSTANTS };
void sort_key_constants(const struct sort_key *key, cl_ulong *constants);

#endif
