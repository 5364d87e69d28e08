#include "engine/grouping/coded_rows.h"

#include "base/cpu_dispatch.h"
#include "engine/sorting/radix_sort.h"

enum { WORD_BITS = 64 };

void coded_rows_init(struct coded_rows *coded, const struct keys *keys, int64_t rows)
{
    const int row_bits = rows > 1 ? WORD_BITS - __builtin_clzll((uint64_t)rows - 1) : 0;
    *coded =
        (struct coded_rows){.keys = keys, .row_bits = row_bits, .pairs = keys->word_bits[0] + row_bits > WORD_BITS};
}

size_t coded_rows_width(const struct coded_rows *coded)
{
    return coded->pairs ? sizeof(struct radix_pair) : sizeof(uint64_t);
}

/* A code without bits is 0, whatever the shift. */
CPU_CLONES static void join(const uint64_t *restrict codes, int shift, uint64_t row, int count,
                            uint64_t *restrict words)
{
    for (int i = 0; i < count; i++)
        words[i] = codes[i] << shift | (row + (uint64_t)i);
}

void coded_rows_read(const struct coded_rows *coded, int64_t row, int count, void *elements)
{
    uint64_t codes[KEY_BLOCK];
    struct radix_pair *pairs = elements;
    keys_read(coded->keys, 0, row, count, codes);
    for (int i = 0; i < count && coded->pairs; i++)
        pairs[i] = (struct radix_pair){.key = codes[i], .payload = (uint64_t)row + (uint64_t)i};
    if (!coded->pairs)
        join(codes, coded->row_bits, (uint64_t)row, count, elements);
}

CPU_CLONES static void split(const uint64_t *restrict words, int shift, int count, uint64_t *restrict codes,
                             uint64_t *restrict rows)
{
    const uint64_t mask = (UINT64_C(1) << shift) - 1;
    for (int i = 0; i < count; i++) {
        codes[i] = words[i] >> shift;
        rows[i] = words[i] & mask;
    }
}

void coded_rows_split(const struct coded_rows *coded, const void *elements, int count, uint64_t *codes, uint64_t *rows)
{
    const struct radix_pair *pairs = elements;
    for (int i = 0; i < count && coded->pairs; i++) {
        codes[i] = pairs[i].key;
        rows[i] = pairs[i].payload;
    }
    if (!coded->pairs)
        split(elements, coded->row_bits, count, codes, rows);
}
