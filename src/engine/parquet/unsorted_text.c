/* Columns of text with an unsorted dictionary: pages are decompressed straight into it, and their strings stay where
 * they are. That costs a fraction of a sorted one, and is enough for what looks at single strings. */
#include "base/memory_size.h"
#include "base/utf8.h"
#include "engine/parquet/read.h"

#include <string.h>

enum { LENGTH_BYTES = 4 };

bool unsorted_text_is_possible(const struct read *read, const struct column_read *column)
{
    const struct leaf *leaf = column->leaf;
    bool plain = leaf->repetition == 0 && leaf_is_text(leaf) && leaf->conversion == CONVERT_TEXT &&
                 leaf->physical == PHYSICAL_BYTE_ARRAY && read->reader->base.rows <= DICTIONARY_MAX;
    for (size_t i = 0; i < column->chunk_count && plain; i++) {
        for (size_t k = 0; k < column->chunks[i].count && plain; k++)
            plain = column->chunks[i].pages[k].header.encoding == ENCODING_PLAIN;
    }
    return plain;
}

/* Gives each page its bytes, behind the length of the empty string that missing values have. */
static bool place_pages(struct column_read *column, size_t *bytes)
{
    *bytes = LENGTH_BYTES;
    for (size_t i = 0; i < column->chunk_count; i++) {
        for (size_t k = 0; k < column->chunks[i].count; k++) {
            struct page_read *page = &column->chunks[i].pages[k];
            const int64_t most = page->header.size > page->header.length ? page->header.size : page->header.length;
            page->place = *bytes;
            page->room = (size_t)most + 1;
            if (__builtin_add_overflow(*bytes, page->room, bytes))
                return false;
        }
    }
    return *bytes <= INT64_MAX / 2;
}

enum status unsorted_text_reserve(struct read *read, struct column_read *column)
{
    const int64_t rows = read->reader->base.rows;
    size_t bytes;
    if (!place_pages(column, &bytes) || !system_memory_has((int64_t)bytes + rows * (int64_t)sizeof(uint64_t)))
        return STATUS_FAILED;
    column->unsorted = dictionary_unsorted((size_t)rows, bytes, &column->offsets, &column->bytes);
    if (!column->unsorted)
        return STATUS_FAILED;
    memset(column->bytes, 0, LENGTH_BYTES);
    column->column = column_reserve_from(read->job->workers->pool, TYPE_U32, TYPE_U32, rows);
    if (!column->column)
        return STATUS_FAILED;
    column_set_logical(column->column, (struct logical_type){.kind = LOGICAL_TEXT, .dictionary = column->unsorted});
    return STATUS_OK;
}

/* Opens the page with its own bytes as the buffer that it is decompressed into. */
static enum read_error open_in_place(const struct read *read, struct page_read *page, int member,
                                     struct page_values *values)
{
    const struct column_read *column = page->chunk->column;
    struct scratch *scratch = &read->scratch[member];
    const struct scratch_buffer buffer = scratch->page;
    char *to = column->bytes + page->place;
    scratch->page = (struct scratch_buffer){to, page->room};
    const enum read_error error = read_open_page(page, scratch, values);
    scratch->page = buffer;
    if (error != READ_OK)
        return error;
    const size_t size = (size_t)(values->end - values->at);
    if (values->at < (const uint8_t *)to || values->at >= (const uint8_t *)to + page->room) {
        memcpy(to, values->at, size); /* it was not compressed */
        values->at = (const uint8_t *)to;
        values->end = values->at + size;
    }
    return READ_OK;
}

/* Sets where the strings begin. */
static enum read_error find_strings(struct page_read *page, const struct page_values *values)
{
    const struct column_read *column = page->chunk->column;
    const char *at = (const char *)values->at, *end = (const char *)values->end;
    uint64_t *offsets = column->offsets + page->row;
    for (size_t i = 0; i < values->present; i++) {
        uint32_t length;
        if ((size_t)(end - at) < sizeof length)
            return READ_BAD_VALUES;
        memcpy(&length, at, sizeof length);
        at += sizeof length;
        if ((size_t)(end - at) < length)
            return READ_BAD_VALUES;
        if (!utf8_is_valid(at, length)) {
            page->decoded.bad = (int64_t)i;
            return READ_NOT_UTF8;
        }
        offsets[i] = (uint64_t)(at - column->bytes);
        at += length;
    }
    for (size_t i = values->present; i < (size_t)page->header.values; i++)
        offsets[i] = LENGTH_BYTES;
    return READ_OK;
}

enum read_error unsorted_text_decode(const struct read *read, struct page_read *page, int member)
{
    struct page_values values;
    const enum read_error error = open_in_place(read, page, member, &values);
    if (error != READ_OK)
        return error;
    page->present = values.present;
    uint32_t *codes = column_at(page->chunk->column->column, page->row);
    for (size_t i = 0; i < values.present; i++)
        codes[i] = (uint32_t)page->row + (uint32_t)i;
    return find_strings(page, &values);
}
