#include "engine/grouping/group_carry.h"

#include "base/cpu_dispatch.h"
#include "base/heap.h"
#include "base/integer.h"
#include "engine/vector/elements.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_BITS = 64 };

/* Gives values their place behind those before, in one word. */
static void place_values(struct group_carry *carry, struct carried_values values, int bits)
{
    if (carry->payload_bits + bits > WORD_BITS) {
        carry->payload_words++;
        carry->payload_bits = 0;
    }
    values.mask = low_ones(bits);
    values.word = carry->payload_words - 1;
    values.shift = carry->payload_bits;
    carry->values[carry->count++] = values;
    carry->payload_bits += bits;
}

/* Adds a column's values to the payload unless they are there. */
static void carry_column(struct group_carry *carry, const struct column *column)
{
    if (!column)
        return;
    for (size_t i = 0; i < carry->count; i++) {
        if (carry->values[i].column == column)
            return;
    }
    const struct type_info *info = &type_table[column->store];
    struct carried_values values = {.column = column};
    int bits = WORD_BITS;
    if (info->kind != KIND_FLOAT) {
        values.low = column->range_known ? column->lo : info->lo;
        bits = bit_width((uint64_t)(column->range_known ? column->hi : info->hi) - (uint64_t)values.low);
    }
    place_values(carry, values, bits);
}

static void carry_rows(struct group_carry *carry, int64_t rows)
{
    place_values(carry, (struct carried_values){0}, bit_width((uint64_t)rows - 1));
}

void group_carry_init(struct group_carry *carry, const struct keys *keys, int64_t rows,
                      const struct group_aggregate *group_aggs, size_t group_agg_count, int most)
{
    bool first = false;
    *carry = (struct group_carry){
        .keys = keys, .payload_words = 1, .values = heap_array(3 * group_agg_count + 1, sizeof *carry->values)};
    for (size_t i = 0; i < group_agg_count; i++) {
        carry_column(carry, group_aggs[i].column);
        carry_column(carry, group_aggs[i].other);
        carry_column(carry, group_aggs[i].where);
        first = first || group_aggs[i].kind == AGG_FIRST;
    }
    if (first)
        carry_rows(carry, rows);
    if (carry->payload_words > most) {
        carry->count = 0;
        carry->payload_words = 1;
        carry->payload_bits = 0;
        carry_rows(carry, rows);
    }
    carry->words = 1;
    if (keys->words > 1 || carry->payload_words > 1 || carry->payload_bits == WORD_BITS ||
        keys->word_bits[0] + carry->payload_bits > WORD_BITS) {
        const size_t used = (size_t)keys->words + (carry->count > 0 ? (size_t)carry->payload_words : 0);
        while (carry->words < used)
            carry->words *= 2;
    }
}

void group_carry_free(struct group_carry *carry)
{
    free(carry->values);
}

size_t group_carry_width(const struct group_carry *carry)
{
    return carry->words * sizeof(uint64_t);
}

bool group_carry_has(const struct group_carry *carry, const struct column *column)
{
    bool has = false;
    for (size_t i = 0; i < carry->count; i++)
        has = has || carry->values[i].column == column;
    return has;
}

#define SPECIALISED static inline __attribute__((always_inline))

SPECIALISED void add_values(uint64_t *restrict words, const void *restrict values, bool wide, uint64_t low, int shift,
                            int count)
{
    for (int i = 0; i < count; i++) {
        const uint64_t term = wide ? ((const uint64_t *)values)[i] : (uint64_t)(int64_t)((const int32_t *)values)[i];
        words[i] |= (term - low) << shift;
    }
}

CPU_CLONES static void add_values_32(uint64_t *words, const void *values, uint64_t low, int shift, int count)
{
    add_values(words, values, false, low, shift, count);
}

CPU_CLONES static void add_values_64(uint64_t *words, const void *values, uint64_t low, int shift, int count)
{
    add_values(words, values, true, low, shift, count);
}

/* Adds the values of a word. */
static void add_payloads(const struct group_carry *carry, int word, int64_t row, int count, uint64_t *words)
{
    int64_t space[KEY_BLOCK];
    for (size_t k = 0; k < carry->count; k++) {
        const struct carried_values *carried = &carry->values[k];
        if (carried->word != word)
            continue;
        const void *values = space;
        enum lane lane = LANE_I64;
        if (carried->column) {
            lane = axis_lane(carried->column);
            operator_prefetch(carried->column, row + count, count);
            values = axis_values(carried->column, lane, row, count, space);
        }
        for (int i = 0; i < count && !carried->column; i++)
            space[i] = row + i;
        /* A shift of 64 is of a field without bits. */
        (lane == LANE_I32 ? add_values_32 : add_values_64)(words, values, (uint64_t)carried->low,
                                                           carried->shift % WORD_BITS, count);
    }
}

CPU_CLONES static void shift_codes(const uint32_t *restrict codes, int shift, int count, uint64_t *restrict words)
{
    for (int i = 0; i < count; i++)
        words[i] = (uint64_t)codes[i] << shift;
}

/* Codes above payloads of 0. */
static void read_words(const struct group_carry *carry, int64_t row, int count, uint64_t *words)
{
    uint32_t codes[KEY_BLOCK];
    if (carry->keys->word_bits[0] <= 32) {
        keys_read_32(carry->keys, row, count, codes);
        shift_codes(codes, carry->payload_bits, count, words);
        return;
    }
    keys_read(carry->keys, 0, row, count, words);
    for (int i = 0; i < count; i++)
        words[i] <<= carry->payload_bits;
}

void group_carry_read(const struct group_carry *carry, int64_t row, int count, void *elements)
{
    if (carry->words == 1) {
        read_words(carry, row, count, elements);
        add_payloads(carry, 0, row, count, elements);
        return;
    }
    const size_t keys = (size_t)carry->keys->words;
    uint64_t words[KEY_BLOCK], *to = elements;
    for (size_t word = 0; word < carry->words; word++) {
        if (word < keys) {
            keys_read(carry->keys, (int)word, row, count, words);
        } else {
            memset(words, 0, (size_t)count * sizeof *words);
            add_payloads(carry, (int)(word - keys), row, count, words);
        }
        for (int i = 0; i < count; i++)
            to[(size_t)i * carry->words + word] = words[i];
    }
}

CPU_CLONES static void codes_of_words(const uint64_t *restrict words, int shift, int count, uint64_t *restrict codes)
{
    for (int i = 0; i < count; i++)
        codes[i] = words[i] >> shift;
}

void group_carry_codes(const struct group_carry *carry, const void *elements, int count, uint64_t *codes)
{
    const uint64_t *words = elements;
    for (int i = 0; i < count && carry->words > 1; i++)
        codes[i] = words[(size_t)i * carry->words];
    if (carry->words == 1)
        codes_of_words(elements, carry->payload_bits, count, codes);
}

const uint64_t *group_carry_payloads(const struct group_carry *carry, const void *elements, int count, uint64_t *space)
{
    const uint64_t *words = elements;
    if (carry->words == 1)
        return elements; /* their fields are masked */
    words += carry->keys->words;
    for (int word = 0; word < carry->payload_words && carry->count > 0; word++) {
        for (int i = 0; i < count; i++)
            space[word * KEY_BLOCK + i] = words[(size_t)i * carry->words + (size_t)word];
    }
    return space;
}

CPU_CLONES static void take_field(const uint64_t *restrict payloads, uint64_t low, int shift, uint64_t mask,
                                  uint64_t *restrict values, int count)
{
    for (int i = 0; i < count; i++)
        values[i] = (payloads[i] >> shift & mask) + low;
}

bool group_carry_values(const struct group_carry *carry, const struct column *column, const uint64_t *payloads,
                        int count, void *values)
{
    for (size_t k = 0; k < carry->count; k++) {
        const struct carried_values *carried = &carry->values[k];
        if (carried->column != column)
            continue;
        take_field(payloads + carried->word * KEY_BLOCK, (uint64_t)carried->low, carried->shift % WORD_BITS,
                   carried->mask, values, count);
        return true;
    }
    return false;
}
