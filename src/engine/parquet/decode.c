/* Values of pages without indices: numbers. */
#include "engine/parquet/decode.h"

#include "base/cpu_dispatch.h"
#include "engine/parquet/byte_arrays.h"
#include "engine/parquet/convert.h"
#include "engine/parquet/encodings.h"
#include "engine/storage/zonemap.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of an element of the column. */
static size_t element_size(const struct leaf *leaf)
{
    return type_table[leaf->type].size;
}

static void bound(const struct leaf *leaf, const void *elements, size_t count, int64_t *lo, int64_t *hi)
{
    struct zone zone = {.lo = INT64_MAX, .hi = INT64_MIN};
    if (count > 0 && type_table[leaf->type].kind == KIND_INT)
        zone = zone_of_elements(leaf->type, elements, 0, (int64_t)count);
    *lo = zone.lo;
    *hi = zone.hi;
}

/* Bytes of streams to values: byte k of all values comes before byte k + 1 of all. */
static inline __attribute__((always_inline)) void join_streams(const uint8_t *from, size_t count, char *to,
                                                               size_t width)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < width; k++)
            to[i * width + k] = (char)from[k * count + i];
    }
}

CPU_CLONES static void join_byte_streams(const uint8_t *from, size_t count, char *to, size_t width)
{
    switch (width) {
    case 4:
        join_streams(from, count, to, 4);
        break;
    case 8:
        join_streams(from, count, to, 8);
        break;
    default:
        join_streams(from, count, to, width);
    }
}

/* Copies byte arrays of the leaf's width behind each other. */
static enum read_error copy_byte_arrays(const struct leaf *leaf, struct byte_arrays *in, size_t count, char *to)
{
    for (size_t i = 0; i < count; i++) {
        struct text text;
        const enum read_error error = byte_arrays_next(in, &text);
        if (error != READ_OK || text.length != leaf->width)
            return error != READ_OK ? error : READ_BAD_VALUES;
        memcpy(to + i * leaf->width, text.at, leaf->width);
    }
    return READ_OK;
}

enum read_error decode_fixed(const struct leaf *leaf, int64_t encoding, const struct page_values *in,
                             struct scratch *scratch, const uint8_t **values)
{
    size_t bytes;
    if (__builtin_mul_overflow(in->present, leaf->width, &bytes))
        return READ_BAD_VALUES;
    if (encoding == ENCODING_PLAIN) {
        *values = in->at;
        return bytes <= (size_t)(in->end - in->at) ? READ_OK : READ_BAD_VALUES;
    }
    const bool is_integer = leaf->physical == PHYSICAL_INT32 || leaf->physical == PHYSICAL_INT64;
    const bool is_delta = encoding == ENCODING_DELTA_BINARY_PACKED && is_integer;
    const bool is_split = encoding == ENCODING_BYTE_STREAM_SPLIT && leaf->physical != PHYSICAL_INT96;
    const bool is_joined = encoding == ENCODING_DELTA_BYTE_ARRAY && leaf->physical == PHYSICAL_FIXED;
    if (!is_delta && !is_split && !is_joined)
        return READ_BAD_ENCODING;
    if (is_split && bytes != (size_t)(in->end - in->at))
        return READ_BAD_VALUES;
    char *to = scratch_reserve(scratch, &scratch->values, bytes + 1);
    if (!to)
        return READ_NO_MEMORY;
    *values = (const uint8_t *)to;
    if (is_split) {
        join_byte_streams(in->at, in->present, to, leaf->width);
        return READ_OK;
    }
    if (is_delta) {
        const uint8_t *at = in->at;
        return delta_decode(&at, in->end, in->present, (unsigned)leaf->width, to) ? READ_OK : READ_BAD_VALUES;
    }
    struct byte_arrays arrays;
    const enum read_error error = byte_arrays_open(&arrays, encoding, 0, in->present, in->at, in->end, scratch);
    return error == READ_OK ? copy_byte_arrays(leaf, &arrays, in->present, to) : error;
}

/* Decimals in byte arrays of any length. */
static enum read_error decode_decimals(int64_t encoding, const struct page_values *values, struct scratch *scratch,
                                       char *to, struct converted *converted)
{
    struct byte_arrays in;
    enum read_error error = byte_arrays_open(&in, encoding, 0, values->present, values->at, values->end, scratch);
    *converted = (struct converted){.bad = -1};
    for (size_t i = 0; i < values->present && error == READ_OK; i++) {
        struct text text;
        int64_t value = 0;
        error = byte_arrays_next(&in, &text);
        if (error == READ_OK && !convert_big_endian(text.at, text.length, &value) && converted->bad < 0)
            converted->bad = (int64_t)i;
        memcpy(to + i * sizeof value, &value, sizeof value);
    }
    return error;
}

static enum read_error decode_bools(int64_t encoding, const struct page_values *values, uint8_t *to)
{
    size_t count = values->present, left = (size_t)(values->end - values->at);
    if (encoding == ENCODING_PLAIN) {
        if (left < (count + 7) / 8)
            return READ_BAD_VALUES;
        bit_expand(values->at, count, to);
        return READ_OK;
    }
    uint32_t length;
    if (encoding != ENCODING_RLE)
        return READ_BAD_ENCODING;
    if (count == 0)
        return READ_OK;
    if (left < sizeof length)
        return READ_BAD_VALUES;
    memcpy(&length, values->at, sizeof length);
    if (length > left - sizeof length)
        return READ_BAD_VALUES;
    const uint8_t *at = values->at + sizeof length;
    struct run_length in = {at, at + length, 1};
    for (size_t done = 0; done < count;) {
        struct run run;
        if (!run_length_next(&in, count - done, &run))
            return READ_BAD_VALUES;
        if (run.packed)
            bit_expand(run.bytes, run.count, to + done);
        else
            memset(to + done, (int)run.value, run.count);
        done += run.count;
    }
    return READ_OK;
}

static enum read_error convert_page(const struct leaf *leaf, int64_t encoding, const struct page_values *values,
                                    struct scratch *scratch, void *to, struct converted *converted)
{
    *converted = (struct converted){.bad = -1};
    if (leaf->conversion == CONVERT_BITS)
        return decode_bools(encoding, values, to);
    if (leaf->physical == PHYSICAL_BYTE_ARRAY)
        return decode_decimals(encoding, values, scratch, to, converted);
    const uint8_t *from;
    const enum read_error error = decode_fixed(leaf, encoding, values, scratch, &from);
    if (error == READ_OK)
        *converted = convert_values(leaf, from, values->present, to);
    return error;
}

enum read_error decode_numbers(const struct leaf *leaf, int64_t encoding, const struct page_values *values,
                               struct scratch *scratch, void *to, struct decoded *decoded)
{
    struct converted converted;
    const enum read_error error = convert_page(leaf, encoding, values, scratch, to, &converted);
    if (error != READ_OK)
        return error;
    *decoded = (struct decoded){.bad = converted.bad, .floored = converted.floored};
    bound(leaf, to, values->present, &decoded->lo, &decoded->hi);
    return decoded->bad >= 0 ? READ_NOT_IN_RANGE : READ_OK;
}

/* Keeps the low halves of 64-bit integers, at any address, and finds their range. */
CPU_CLONES static void narrow(const uint8_t *restrict from, size_t count, int32_t *restrict to, int64_t *lo,
                              int64_t *hi)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        int64_t value;
        memcpy(&value, from + i * sizeof value, sizeof value);
        least = value < least ? value : least;
        most = value > most ? value : most;
        to[i] = (int32_t)value;
    }
    *lo = least;
    *hi = most;
}

enum read_error decode_narrow(const struct leaf *leaf, int64_t encoding, const struct page_values *values,
                              struct scratch *scratch, int32_t *to, struct decoded *decoded)
{
    const uint8_t *from;
    const enum read_error error = decode_fixed(leaf, encoding, values, scratch, &from);
    *decoded = (struct decoded){.bad = -1};
    if (error == READ_OK)
        narrow(from, values->present, to, &decoded->lo, &decoded->hi);
    return error;
}

/* Marks the values that were floored or do not fit, by converting them one by one. */
static bool mark_dubious(const struct leaf *leaf, const struct page_values *values, struct page_dictionary *dictionary)
{
    dictionary->dubious = calloc(dictionary->count, sizeof *dictionary->dubious);
    if (!dictionary->dubious)
        return false;
    struct byte_arrays in = {.at = values->at, .end = values->end, .width = leaf->width};
    for (size_t i = 0; i < dictionary->count; i++) {
        struct text text;
        int64_t value;
        bool bad, floored = false;
        if (byte_arrays_next(&in, &text) != READ_OK)
            return false;
        if (leaf->physical == PHYSICAL_BYTE_ARRAY) {
            bad = !convert_big_endian(text.at, text.length, &value);
        } else {
            struct converted converted = convert_values(leaf, text.at, 1, &value);
            bad = converted.bad >= 0;
            floored = converted.floored > 0;
        }
        dictionary->dubious[i] = (uint8_t)(bad ? VALUE_BAD : floored ? VALUE_FLOORED : 0);
    }
    return true;
}

enum read_error decode_dictionary(const struct leaf *leaf, const struct page_values *values, struct scratch *scratch,
                                  struct page_dictionary *dictionary)
{
    /* Every value takes a byte or more, so the file bounds what is allocated. */
    if (leaf->conversion == CONVERT_BITS || values->present > (size_t)(values->end - values->at))
        return READ_BAD_VALUES;
    dictionary->count = values->present;
    dictionary->values = calloc(values->present + 1, element_size(leaf));
    if (!dictionary->values)
        return READ_NO_MEMORY;
    struct converted converted;
    enum read_error error = convert_page(leaf, ENCODING_PLAIN, values, scratch, dictionary->values, &converted);
    if (error == READ_OK && (converted.bad >= 0 || converted.floored > 0) && !mark_dubious(leaf, values, dictionary))
        error = READ_NO_MEMORY;
    bound(leaf, dictionary->values, values->present, &dictionary->lo, &dictionary->hi);
    return error;
}

static inline __attribute__((always_inline)) void spread(char *at, const uint8_t *validity, size_t rows, size_t present,
                                                         size_t size)
{
    size_t from = present;
    /* Backwards, so that nothing is overwritten before it has been moved; the first ones may already be in place. */
    for (size_t row = rows; row > from;) {
        row--;
        uint64_t element = 0;
        from -= validity[row];
        memcpy(&element, at + from * size, size);
        element &= 0 - (uint64_t)validity[row];
        memcpy(at + row * size, &element, size);
    }
}

void decode_spread(void *elements, size_t size, const uint8_t *validity, size_t rows, size_t present)
{
    switch (size) {
    case 1:
        spread(elements, validity, rows, present, 1);
        break;
    case 2:
        spread(elements, validity, rows, present, 2);
        break;
    case 4:
        spread(elements, validity, rows, present, 4);
        break;
    default:
        spread(elements, validity, rows, present, 8);
    }
}
