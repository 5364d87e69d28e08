/* Whether bytes that no annotation explains are text, by the first page that has some. */
#include "base/utf8.h"
#include "engine/parquet/byte_arrays.h"
#include "engine/parquet/page.h"
#include "engine/parquet/reader.h"

#include <stdlib.h>

enum { MAX_SAMPLE = 1000, MAX_PAGE_VALUES = 1 << 24 };

/* Whether the first values are UTF-8; so it is if they cannot be read, which reading them reports. */
static bool is_text(const struct leaf *leaf, int64_t encoding, const struct page_values *values,
                    struct scratch *scratch)
{
    struct byte_arrays in;
    const size_t width = leaf->physical == PHYSICAL_FIXED ? leaf->width : 0;
    if (byte_arrays_open(&in, encoding, width, values->present, values->at, values->end, scratch) != READ_OK)
        return true;
    struct text text;
    for (size_t i = 0; i < values->present && i < MAX_SAMPLE && byte_arrays_next(&in, &text) == READ_OK; i++) {
        if (!utf8_is_valid(text.at, text.length))
            return false;
    }
    return true;
}

/* Opens the first page of the chunk that has values. */
static bool sample_chunk(const struct parquet_reader *reader, const struct leaf *leaf, const struct chunk *chunk,
                         struct scratch *scratch)
{
    const uint8_t *at = parquet_chunk_begin(reader, chunk);
    struct page_header page;
    struct page_values values;
    for (int64_t left = chunk->values; at && left > 0; left -= page.values) {
        if (!page_header_read(&at, parquet_chunk_end(reader, chunk), &page))
            return true;
        if (page.type == PAGE_DICTIONARY)
            return page_open_dictionary(&page, chunk->codec, scratch, &values) != READ_OK ||
                   is_text(leaf, ENCODING_PLAIN, &values, scratch);
        const bool has_values = page.type == PAGE_DATA || page.type == PAGE_DATA_V2;
        if (!has_values || page.values > MAX_PAGE_VALUES)
            return true;
        uint8_t *bytes = malloc(3 * (size_t)page.values + 1);
        const struct page_levels levels = {leaf->definition, leaf->repetition, bytes, bytes + page.values,
                                           bytes + 2 * (size_t)page.values};
        const bool opened =
            bytes && page.values <= left && page_open_data(&page, chunk->codec, &levels, scratch, &values) == READ_OK;
        free(bytes);
        if (!opened || values.present > 0)
            return !opened || is_text(leaf, page.encoding, &values, scratch);
    }
    return true;
}

bool parquet_looks_like_text(const struct parquet_reader *reader, const struct leaf *leaf)
{
    struct scratch scratch = {0};
    bool found = true;
    for (size_t i = 0; i < reader->footer.group_count && found; i++) {
        const struct row_group *group = &reader->footer.groups[i];
        if (group->rows > 0) {
            found = sample_chunk(reader, leaf, &group->chunks[leaf->index], &scratch);
            break;
        }
    }
    scratch_free(&scratch);
    return found;
}
