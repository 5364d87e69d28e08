#include "cl/operators/sort_key.h"

#include "base/integer.h"

enum { WORD_BITS = 64 };

enum status sort_key_measure(struct sort_key *key, struct accelerator *accelerator, const struct operator_job *job)
{
    struct column_minmax *bounds = &key->bounds;
    const enum status status = column_minmax_bounds(accelerator, job, key->column, bounds);
    if (status != STATUS_OK)
        return status;
    if (bounds->least > bounds->most) /* only NaN */
        bounds->least = bounds->most = 0;
    key->bits = bit_width(bounds->most - bounds->least + bounds->nan);
    return STATUS_OK;
}

bool sort_key_is_lossless(const struct sort_key *key)
{
    return !key->bounds.nan && !key->bounds.negative_zero; /* several bit patterns encode equally */
}

size_t sort_keys_pack(struct sort_key *keys, size_t count, int *bits)
{
    size_t word = 0;
    bits[0] = 0;
    for (size_t k = count; k-- > 0;) {
        if (bits[word] + keys[k].bits > WORD_BITS)
            bits[++word] = 0;
        keys[k].word = word;
        keys[k].shift = keys[k].bits > 0 ? bits[word] : 0;
        bits[word] += keys[k].bits;
    }
    return word + 1;
}

void sort_key_constants(const struct sort_key *key, cl_ulong *constants)
{
    const struct column_minmax *bounds = &key->bounds;
    constants[SORT_KEY_FLIP] = key->descending ? UINT64_MAX : 0;
    constants[SORT_KEY_BASE] = key->descending ? ~bounds->most : bounds->least;
    constants[SORT_KEY_NAN] = bounds->most - bounds->least + 1;
    constants[SORT_KEY_SHIFT] = (cl_ulong)key->shift;
    constants[SORT_KEY_MASK] = key->bits == 0 ? 0 : UINT64_MAX >> (WORD_BITS - key->bits);
}
