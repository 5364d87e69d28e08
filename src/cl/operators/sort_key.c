#include "cl/operators/sort_key.h"

enum { WORD_BITS = 64 };

static int bits_of(uint64_t most)
{
    return most ? WORD_BITS - __builtin_clzll(most) : 0;
}

enum status sort_key_measure(struct sort_key *key, struct accelerator *accelerator, const struct operator_job *job)
{
    struct column_minmax *extent = &key->extent;
    enum status status = column_minmax_find(accelerator, job, key->column, extent);

    if (status != STATUS_OK)
        return status;
    if (extent->least > extent->most) /* nothing but NaN */
        extent->least = extent->most = 0;
    key->bits = bits_of(extent->most - extent->least + extent->nan);
    return STATUS_OK;
}

bool sort_key_tells(const struct sort_key *key)
{
    return !key->extent.nan && !key->extent.negative_zero; /* these come in several ways */
}

size_t sort_keys_place(struct sort_key *keys, size_t count, int *bits)
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

void sort_key_numbers(const struct sort_key *key, cl_ulong *numbers)
{
    const struct column_minmax *extent = &key->extent;

    numbers[SORT_KEY_FLIP] = key->descending ? UINT64_MAX : 0;
    numbers[SORT_KEY_BASE] = key->descending ? ~extent->most : extent->least;
    numbers[SORT_KEY_NAN] = extent->most - extent->least + 1;
    numbers[SORT_KEY_SHIFT] = (cl_ulong)key->shift;
    numbers[SORT_KEY_MASK] = key->bits == 0 ? 0 : UINT64_MAX >> (WORD_BITS - key->bits);
}
