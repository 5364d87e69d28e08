#include "engine/parquet/page.h"

#include "engine/parquet/encodings.h"

#include <string.h>

enum { BATCH = 8 * UNPACK_GROUP };

static unsigned width_of(unsigned most)
{
    return most > 0 ? 32 - (unsigned)__builtin_clz(most) : 0;
}

/* Levels of more than one bit as bytes. */
static void unpack(const struct run *run, unsigned width, uint8_t *to)
{
    uint32_t levels[BATCH];
    for (size_t done = 0; done < run->count; done += BATCH) {
        const size_t count = run->count - done < BATCH ? run->count - done : BATCH;
        const size_t skipped = done / 8 * width;
        bit_unpack(run->bytes + skipped, run->size - skipped, width, (count + UNPACK_GROUP - 1) / UNPACK_GROUP, levels);
        for (size_t i = 0; i < count; i++)
            to[done + i] = (uint8_t)levels[i];
    }
}

/* Counts the levels that are `most`, of which none exceeds it; false if one does. */
static bool count_most(const uint8_t *levels, size_t count, unsigned most, size_t *found)
{
    uint8_t highest = 0;
    for (size_t i = 0; i < count; i++) {
        highest = levels[i] > highest ? levels[i] : highest;
        *found += levels[i] == most;
    }
    return highest <= most;
}

/* Writes `count` levels and counts those that are `most`. If the first run says that all are, nothing is written. */
static bool decode(const uint8_t *at, const uint8_t *end, unsigned most, size_t count, uint8_t *to, size_t *found)
{
    struct run_length in = {at, end, width_of(most)};
    *found = 0;
    for (size_t done = 0; done < count;) {
        struct run run;
        if (!run_length_next(&in, count - done, &run))
            return false;
        if (run.packed && in.width == 1) {
            *found += bit_expand(run.bytes, run.count, to + done);
        } else if (run.packed) {
            unpack(&run, in.width, to + done);
            if (!count_most(to + done, run.count, most, found))
                return false;
        } else {
            if (run.value > most)
                return false;
            *found += run.value == most ? run.count : 0;
            if (*found == count)
                return true;
            memset(to + done, (int)run.value, run.count);
        }
        done += run.count;
    }
    return true;
}

/* The deprecated encoding: the most significant bit first, in as many bytes as all levels take. */
static bool decode_packed(const uint8_t **at, const uint8_t *end, unsigned most, size_t count, uint8_t *to,
                          size_t *found)
{
    const unsigned width = width_of(most);
    const size_t bytes = (count * width + 7) / 8;
    if ((size_t)(end - *at) < bytes)
        return false;
    *found = 0;
    for (size_t i = 0, bit = 0; i < count; i++) {
        unsigned level = 0;
        for (unsigned k = 0; k < width; k++, bit++)
            level = level << 1 | ((unsigned)(*at)[bit / 8] >> (7 - bit % 8) & 1u);
        to[i] = (uint8_t)level;
    }
    *at += bytes;
    return count_most(to, count, most, found);
}

/* Where definition levels are decoded: bytes of 0 and 1 are the validity already. */
static uint8_t *definitions_of(const struct page_levels *levels)
{
    return levels->repetition > 0 ? levels->definitions : levels->validity;
}

static void set_validity(const struct page_levels *levels, size_t count, size_t present)
{
    uint8_t *definitions = definitions_of(levels);
    if (present == count && levels->repetition > 0)
        memset(definitions, (int)levels->definition, count);
    if (present == count || levels->definition == 0 || (levels->definition == 1 && levels->repetition == 0))
        return;
    for (size_t i = 0; i < count; i++)
        levels->validity[i] = definitions[i] == levels->definition;
}

/* All repetition levels being the highest, only a page within one row's list has. */
static void set_repetitions(const struct page_levels *levels, size_t count, size_t highest)
{
    if (highest == count)
        memset(levels->repetitions, (int)levels->repetition, count);
}

static bool take(int64_t encoding, const uint8_t **at, const uint8_t *end, unsigned most, size_t count, uint8_t *to,
                 size_t *found)
{
    if (encoding == ENCODING_BIT_PACKED)
        return decode_packed(at, end, most, count, to, found);
    uint32_t length;
    if (encoding != ENCODING_RLE || (size_t)(end - *at) < sizeof length)
        return false;
    memcpy(&length, *at, sizeof length);
    *at += sizeof length;
    if (length > (size_t)(end - *at))
        return false;
    const uint8_t *begin = *at;
    *at += length;
    return decode(begin, *at, most, count, to, found);
}

bool levels_take(const struct page_header *page, const struct page_levels *levels, const uint8_t **at,
                 const uint8_t *end, size_t *present)
{
    const size_t count = (size_t)page->values;
    size_t highest = 0;
    *present = count;
    if (count == 0)
        return true;
    if (levels->repetition > 0) {
        if (!take(page->repetition_encoding, at, end, levels->repetition, count, levels->repetitions, &highest))
            return false;
        set_repetitions(levels, count, highest);
    }
    if (levels->definition > 0 &&
        !take(page->level_encoding, at, end, levels->definition, count, definitions_of(levels), present))
        return false;
    set_validity(levels, count, *present);
    return true;
}

bool levels_take_v2(const struct page_header *page, const struct page_levels *levels, size_t *present)
{
    const size_t count = (size_t)page->values;
    const uint8_t *definitions = page->data + page->repetition_bytes;
    size_t highest = 0;
    *present = count;
    if (levels->repetition > 0) {
        if (!decode(page->data, definitions, levels->repetition, count, levels->repetitions, &highest))
            return false;
        set_repetitions(levels, count, highest);
    }
    if (levels->definition > 0 && !decode(definitions, definitions + page->level_bytes, levels->definition, count,
                                          definitions_of(levels), present))
        return false;
    set_validity(levels, count, *present);
    return true;
}
