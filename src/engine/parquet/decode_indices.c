/* Indices of a dictionary to its values, in one pass over the rows. */
#include "engine/parquet/decode.h"

#include "base/cpu_dispatch.h"
#include "base/heap.h"
#include "base/integer.h"
#include "engine/parquet/encodings.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 8 * UNPACK_GROUP };

/* Inlined for each size, so that it is a constant in the loops. */
static inline __attribute__((always_inline)) void fill(void *to, const void *value, size_t count, size_t size)
{
    char element[sizeof(int64_t)];
    memcpy(element, value, size);
    for (size_t i = 0; i < count; i++)
        memcpy((char *)to + i * size, element, size);
}

static inline __attribute__((always_inline)) bool
look_up(const struct run *run, unsigned width, const struct page_dictionary *dictionary, char *to, size_t size)
{
    const char *values = dictionary->values;
    uint32_t indices[BATCH];
    for (size_t done = 0; done < run->count; done += BATCH) {
        const size_t count = run->count - done < BATCH ? run->count - done : BATCH;
        const size_t skipped = done / 8 * width;
        bit_unpack(run->bytes + skipped, run->size - skipped, width, (count + UNPACK_GROUP - 1) / UNPACK_GROUP,
                   indices);
        uint32_t most = 0;
        for (size_t i = 0; i < count; i++)
            most = indices[i] > most ? indices[i] : most;
        if (most >= dictionary->count)
            return false;
        for (size_t i = 0; i < count; i++)
            memcpy(to + (done + i) * size, values + indices[i] * size, size);
    }
    return true;
}

static inline __attribute__((always_inline)) enum read_error
translate(const struct page_values *values, const struct page_dictionary *dictionary, char *to, size_t size)
{
    if (values->present == 0)
        return READ_OK;
    if (values->at == values->end || *values->at > UNPACK_MAX_WIDTH)
        return READ_BAD_VALUES;
    struct run_length in = {values->at + 1, values->end, *values->at};
    for (size_t done = 0; done < values->present;) {
        struct run run;
        if (!run_length_next(&in, values->present - done, &run))
            return READ_BAD_VALUES;
        if (run.packed ? !look_up(&run, in.width, dictionary, to + done * size, size) : run.value >= dictionary->count)
            return READ_BAD_INDEX;
        if (!run.packed)
            fill(to + done * size, (const char *)dictionary->values + run.value * size, run.count, size);
        done += run.count;
    }
    return READ_OK;
}

CPU_CLONES static enum read_error translate_1(const struct page_values *values,
                                              const struct page_dictionary *dictionary, char *to)
{
    return translate(values, dictionary, to, 1);
}

CPU_CLONES static enum read_error translate_2(const struct page_values *values,
                                              const struct page_dictionary *dictionary, char *to)
{
    return translate(values, dictionary, to, 2);
}

CPU_CLONES static enum read_error translate_4(const struct page_values *values,
                                              const struct page_dictionary *dictionary, char *to)
{
    return translate(values, dictionary, to, 4);
}

CPU_CLONES static enum read_error translate_8(const struct page_values *values,
                                              const struct page_dictionary *dictionary, char *to)
{
    return translate(values, dictionary, to, 8);
}

/* Values first..last-1 of a packed run. */
static bool look_up_some(const struct run *run, unsigned width, const struct page_dictionary *dictionary, size_t first,
                         size_t last, char *to, size_t size)
{
    const char *values = dictionary->values;
    for (size_t i = first; i < last; i++, to += size) {
        const uint64_t index = bit_unpack_one(run->bytes, run->size, width, i);
        if (index >= dictionary->count)
            return false;
        memcpy(to, values + index * size, size);
    }
    return true;
}

enum read_error decode_some_indices(const struct page_values *values, const struct page_dictionary *dictionary,
                                    size_t size, const struct row_set *rows, int64_t first, void *to,
                                    struct decoded *decoded)
{
    *decoded = (struct decoded){.bad = -1, .lo = dictionary->lo, .hi = dictionary->hi};
    if (values->at == values->end || *values->at > UNPACK_MAX_WIDTH)
        return READ_BAD_VALUES;
    struct run_length in = {values->at + 1, values->end, *values->at};
    const int64_t last = first + (int64_t)values->present;
    char *at = to;
    size_t i = row_set_find(rows, first);
    for (int64_t row = first; row < last && i < rows->count;) {
        struct run run;
        if (!run_length_next(&in, (size_t)(last - row), &run))
            return READ_BAD_VALUES;
        const int64_t end = row + (int64_t)run.count;
        for (; i < rows->count && rows->begins[i] < end; i++) {
            const size_t from = (size_t)(max_int64(rows->begins[i], row) - row);
            const size_t until = (size_t)(min_int64(rows->ends[i], end) - row);
            if (run.packed ? !look_up_some(&run, in.width, dictionary, from, until, at, size)
                           : run.value >= dictionary->count)
                return READ_BAD_INDEX;
            if (!run.packed)
                fill(at, (const char *)dictionary->values + run.value * size, until - from, size);
            at += (until - from) * size;
            if (rows->ends[i] > end)
                break;
        }
        row = end;
    }
    return READ_OK;
}

static enum read_error translate_any(const struct page_values *values, const struct page_dictionary *dictionary,
                                     char *to, size_t size)
{
    switch (size) {
    case 1:
        return translate_1(values, dictionary, to);
    case 2:
        return translate_2(values, dictionary, to);
    case 4:
        return translate_4(values, dictionary, to);
    default:
        return translate_8(values, dictionary, to);
    }
}

/* Counts the values that are dubious and finds the first. */
static void look_for_dubious(const struct page_values *values, const struct page_dictionary *dictionary,
                             struct decoded *decoded)
{
    uint8_t *dubious = heap_array(values->present + 1, sizeof *dubious);
    struct page_dictionary flags = {.count = dictionary->count, .values = dictionary->dubious};
    (void)translate_1(values, &flags, (char *)dubious);
    for (size_t i = values->present; i-- > 0;) {
        decoded->floored += dubious[i] == VALUE_FLOORED;
        if (dubious[i] == VALUE_BAD)
            decoded->bad = (int64_t)i;
    }
    free(dubious);
}

enum read_error decode_indices(const struct page_values *values, const struct page_dictionary *dictionary, size_t size,
                               void *to, struct decoded *decoded)
{
    const enum read_error error = translate_any(values, dictionary, to, size);
    *decoded = (struct decoded){.bad = -1, .lo = dictionary->lo, .hi = dictionary->hi};
    if (values->present == 0) {
        decoded->lo = INT64_MAX;
        decoded->hi = INT64_MIN;
    }
    if (error == READ_OK && dictionary->dubious)
        look_for_dubious(values, dictionary, decoded);
    return error == READ_OK && decoded->bad >= 0 ? READ_NOT_IN_RANGE : error;
}

void page_dictionary_narrow(struct page_dictionary *dictionary, size_t size, size_t to)
{
    char *values = dictionary->values;
    for (size_t i = 0; i < dictionary->count; i++)
        memmove(values + i * to, values + i * size, to); /* little-endian */
}

void page_dictionary_mark_bad(struct page_dictionary *dictionary, size_t i)
{
    if (!dictionary->dubious)
        dictionary->dubious = heap_array(dictionary->count, sizeof *dictionary->dubious);
    dictionary->dubious[i] = VALUE_BAD;
}

void page_dictionary_free(struct page_dictionary *dictionary)
{
    free(dictionary->values);
    free(dictionary->dubious);
    *dictionary = (struct page_dictionary){0};
}
