/* Columns of text with an unsorted dictionary: pages are decompressed straight into it, those of dictionaries too, and
 * their strings stay where they are. Codes are of an entry of a dictionary page, or of a value of a page without
 * indices. That costs a fraction of a sorted one, and is enough for what looks at single strings. */
#include "base/buffer_pool.h"
#include "base/heap.h"
#include "base/utf8.h"
#include "engine/parquet/byte_arrays.h"
#include "engine/parquet/read.h"

#include <string.h>

enum { LENGTH_BYTES = 4 };

/* Where the next strings go. */
struct next {
    uint64_t code, byte;
};

static bool take_place(struct next *next, const struct page_header *header, struct text_place *place)
{
    const int64_t most = header->size > header->length ? header->size : header->length;
    const bool lengths_apart = header->encoding == ENCODING_DELTA_LENGTH_BYTE_ARRAY;
    *place = (struct text_place){.code = (uint32_t)next->code, .byte = next->byte, .room = (size_t)most + 1};
    if (lengths_apart && __builtin_add_overflow(place->room, (uint64_t)header->values * LENGTH_BYTES, &place->room))
        return false;
    next->code += (uint64_t)header->values;
    return next->code <= DICTIONARY_MAX && !__builtin_add_overflow(next->byte, place->room, &next->byte) &&
           next->byte <= INT64_MAX / 2;
}

/* Gives pages their places, behind the length of the empty string that missing values have. False: some have strings
 * that are not stored one by one, or there are too many. */
static bool place_pages(struct column_read *column, struct next *next)
{
    bool possible = true;
    for (size_t i = 0; i < column->chunk_count && possible; i++) {
        struct chunk_read *chunk = &column->chunks[i];
        possible = !chunk->has_dictionary || take_place(next, &chunk->dictionary_page, &chunk->place);
        for (size_t k = 0; k < chunk->count && possible; k++) {
            struct page_read *page = &chunk->pages[k];
            const int64_t encoding = page->header.encoding;
            possible = page_has_indices(page) ||
                       ((encoding == ENCODING_PLAIN || encoding == ENCODING_DELTA_LENGTH_BYTE_ARRAY) &&
                        take_place(next, &page->header, &page->place));
        }
    }
    return possible;
}

bool unsorted_text_reserve(const struct read *read, struct column_read *column)
{
    const struct leaf *leaf = column->leaf;
    struct next next = {.byte = LENGTH_BYTES};
    const bool possible = leaf->repetition == 0 && leaf->conversion == CONVERT_TEXT &&
                          leaf->physical == PHYSICAL_BYTE_ARRAY && place_pages(column, &next);
    if (!possible || (int64_t)next.code < read->job->unsorted_from ||
        !buffer_pool_has(read->job->workers->pool, (int64_t)(next.byte + next.code * sizeof(uint64_t)) +
                                                       column_read_rows(column) * (int64_t)sizeof(uint32_t)))
        return false;
    struct buffer_pool *pool = read->job->workers->pool;
    struct dictionary *dictionary = dictionary_unsorted(pool, next.code, next.byte, &column->places, &column->bytes);
    if (!dictionary)
        return false;
    memset(column->bytes, 0, LENGTH_BYTES);
    column->column = column_reserve_codes(pool, dictionary, column_read_rows(column));
    column->unsorted = column->column;
    dictionary_unref(dictionary);
    return column->unsorted;
}

/* Opens the page, or the dictionary page if that is NULL, with its place as the buffer that it is decompressed into. */
static enum read_error open_in_place(const struct chunk_read *chunk, const struct page_read *page,
                                     struct scratch *scratch, struct page_values *values)
{
    const struct text_place *place = page ? &page->place : &chunk->place;
    const struct scratch_buffer buffer = scratch->page;
    char *to = chunk->column->bytes + place->byte;
    scratch->page = (struct scratch_buffer){to, place->room};
    const enum read_error error =
        page ? read_open_page(page, scratch, values)
             : page_open_dictionary(&chunk->dictionary_page, chunk->chunk->codec, scratch, values);
    scratch->page = buffer;
    if (error != READ_OK)
        return error;
    const size_t size = (size_t)(values->end - values->at);
    if (values->at < (const uint8_t *)to || values->at >= (const uint8_t *)to + place->room) {
        memcpy(to, values->at, size); /* it was not compressed */
        values->at = (const uint8_t *)to;
        values->end = values->at + size;
    }
    return READ_OK;
}

/* Sets where the strings begin, each of which is behind its length. One that is not UTF-8 is an error, of which *bad is
 * the place; in a dictionary only if a row has it. */
static enum read_error find_strings(const struct column_read *column, const struct page_values *values,
                                    const char **places, struct page_dictionary *dictionary, int64_t *bad)
{
    const char *at = (const char *)values->at, *end = (const char *)values->end;
    for (size_t i = 0; i < values->present; i++) {
        uint32_t length;
        if ((size_t)(end - at) < sizeof length)
            return READ_BAD_VALUES;
        memcpy(&length, at, sizeof length);
        at += sizeof length;
        if ((size_t)(end - at) < length)
            return READ_BAD_VALUES;
        const bool good = utf8_is_valid(at, length);
        if (!good && !dictionary) {
            *bad = (int64_t)i;
            return READ_NOT_UTF8;
        }
        if (!good)
            page_dictionary_mark_bad(dictionary, i);
        places[i] = good ? at : column->bytes + LENGTH_BYTES;
        at += length;
    }
    return READ_OK;
}

enum read_error unsorted_text_dictionary(const struct read *read, struct chunk_read *chunk, int member)
{
    const struct column_read *column = chunk->column;
    struct page_dictionary *dictionary = &chunk->dictionary;
    struct page_values values;
    const enum read_error error = open_in_place(chunk, NULL, &read->scratch[member], &values);
    if (error != READ_OK)
        return error;
    const size_t size = type_table[column->column->store].size;
    dictionary->values = heap_array(values.present + 1, size);
    for (size_t i = 0; i < values.present; i++)
        store_code(dictionary->values, size, i, chunk->place.code + (uint32_t)i);
    dictionary->count = values.present;
    return find_strings(column, &values, column->places + chunk->place.code, dictionary, NULL);
}

/* Moves strings whose lengths are apart to the page's place, each behind its length. */
static enum read_error join_lengths(const struct page_read *page, struct scratch *scratch, struct page_values *values)
{
    struct byte_arrays in;
    enum read_error error = read_open_page(page, scratch, values);
    if (error == READ_OK)
        error = byte_arrays_open(&in, page->header.encoding, 0, values->present, values->at, values->end, scratch);
    char *to = page->chunk->column->bytes + page->place.byte;
    values->at = (const uint8_t *)to;
    for (size_t i = 0; i < values->present && error == READ_OK; i++) {
        struct text text;
        error = byte_arrays_next(&in, &text);
        if (error != READ_OK)
            break;
        const uint32_t length = (uint32_t)text.length;
        memcpy(to, &length, sizeof length);
        memcpy(to + sizeof length, text.at, text.length);
        to += sizeof length + text.length;
    }
    values->end = (const uint8_t *)to;
    return error;
}

enum read_error unsorted_text_decode(const struct read *read, struct page_read *page, int member, void *codes)
{
    const struct column_read *column = page->chunk->column;
    struct scratch *scratch = &read->scratch[member];
    struct page_values values;
    const bool lengths_apart = page->header.encoding == ENCODING_DELTA_LENGTH_BYTE_ARRAY;
    const enum read_error error =
        lengths_apart ? join_lengths(page, scratch, &values) : open_in_place(page->chunk, page, scratch, &values);
    if (error != READ_OK)
        return error;
    page->present = values.present;
    const size_t size = type_table[column->column->store].size;
    const char **places = column->places + page->place.code;
    for (size_t i = 0; i < values.present; i++)
        store_code(codes, size, i, page->place.code + (uint32_t)i);
    for (size_t i = values.present; i < (size_t)page->header.values; i++)
        places[i] = column->bytes + LENGTH_BYTES;
    return find_strings(column, &values, places, NULL, &page->decoded.bad);
}
