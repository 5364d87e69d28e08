/* Columns of text: the strings of all dictionary pages and of pages without indices are interned, by all threads, and
 * joined into one sorted dictionary; then indices are translated to its codes. */
#include "base/heap.h"
#include "base/integer.h"
#include "base/utf8.h"
#include "engine/parquet/byte_arrays.h"
#include "engine/parquet/convert.h"
#include "engine/parquet/read.h"

#include <string.h>

/* Values that are interned together, and where their numbers go. */
struct batch {
    const struct leaf *leaf;
    struct interner *interner;
    uint32_t *numbers; /* of the page's values */
    size_t count, most;
    struct text texts[INTERNER_BATCH];
    size_t places[INTERNER_BATCH];
    char uuids[INTERNER_BATCH][UUID_TEXT_LENGTH];
};

static void batch_begin(struct batch *batch, const struct byte_arrays *in, const struct leaf *leaf,
                        struct interner *interner, uint32_t *numbers)
{
    batch->leaf = leaf;
    batch->interner = interner;
    batch->numbers = numbers;
    batch->count = 0;
    batch->most = in->prefixes ? 1 : INTERNER_BATCH; /* of which each is only there until the next */
}

/* READ_NOT_UTF8, and the place of the value, if one is not UTF-8: strings are checked when they are first seen. */
static enum read_error batch_end(struct batch *batch, int64_t *bad)
{
    uint32_t numbers[INTERNER_BATCH];
    int64_t seen = interner_count(batch->interner);
    interner_add_batch(batch->interner, batch->texts, batch->count, numbers);
    for (size_t i = 0; i < batch->count; i++) {
        const bool is_new = numbers[i] == seen && seen < interner_count(batch->interner);
        if (is_new && !utf8_is_valid(batch->texts[i].at, batch->texts[i].length)) {
            *bad = (int64_t)batch->places[i];
            return READ_NOT_UTF8;
        }
        seen += is_new;
        batch->numbers[batch->places[i]] = numbers[i];
    }
    batch->count = 0;
    return READ_OK;
}

static enum read_error batch_add(struct batch *batch, struct text text, size_t place, int64_t *bad)
{
    const size_t i = batch->count++;
    if (batch->leaf->conversion == CONVERT_UUID && text.length == batch->leaf->width) {
        convert_uuid(text.at, batch->uuids[i]);
        text = (struct text){batch->uuids[i], sizeof batch->uuids[i]};
    }
    batch->texts[i] = text;
    batch->places[i] = place;
    return batch->count == batch->most ? batch_end(batch, bad) : READ_OK;
}

/* The bytes that values take in ENCODING_PLAIN, 0 for byte arrays that begin with their length. */
static size_t plain_width(const struct leaf *leaf)
{
    return leaf->physical == PHYSICAL_FIXED ? leaf->width : 0;
}

enum read_error text_intern_dictionary(const struct read *read, struct chunk_read *chunk,
                                       const struct page_values *values, int member)
{
    const struct column_read *column = chunk->column;
    struct page_dictionary *dictionary = &chunk->dictionary;
    struct byte_arrays in;
    if (values->present > (size_t)(values->end - values->at))
        return READ_BAD_VALUES;
    enum read_error error = byte_arrays_open(&in, ENCODING_PLAIN, plain_width(column->leaf), values->present,
                                             values->at, values->end, &read->scratch[member]);
    dictionary->count = values->present;
    chunk->numbers = heap_array(values->present + 1, sizeof *chunk->numbers);
    chunk->member = member;
    struct batch batch;
    int64_t bad;
    batch_begin(&batch, &in, column->leaf, column->interners[member], chunk->numbers);
    for (size_t i = 0; i < values->present && error == READ_OK; i++) {
        struct text text;
        error = byte_arrays_next(&in, &text);
        if (error != READ_OK)
            break;
        if (column->leaf->conversion != CONVERT_UUID && !utf8_is_valid(text.at, text.length)) {
            page_dictionary_mark_bad(dictionary, i); /* which is an error only if a row has it */
            text.length = 0;
        }
        error = batch_add(&batch, text, i, &bad);
    }
    return error == READ_OK ? batch_end(&batch, &bad) : error;
}

static enum read_error intern_values(const struct read *read, struct page_read *page, int member)
{
    const struct column_read *column = page->chunk->column;
    const struct leaf *leaf = column->leaf;
    struct scratch *scratch = &read->scratch[member];
    uint32_t *numbers = column_at(column->numbers, page->row);
    struct page_values values;
    enum read_error error = read_open_page(page, scratch, &values);
    if (error != READ_OK)
        return error;
    page->present = values.present;
    int64_t encoding = page->header.encoding;
    if (encoding == ENCODING_BYTE_STREAM_SPLIT && leaf->physical == PHYSICAL_FIXED) {
        const uint8_t *joined;
        error = decode_fixed(leaf, encoding, &values, scratch, &joined);
        if (error != READ_OK)
            return error;
        values = (struct page_values){joined, joined + values.present * leaf->width, values.present};
        encoding = ENCODING_PLAIN;
    }
    struct byte_arrays in;
    error = byte_arrays_open(&in, encoding, plain_width(leaf), values.present, values.at, values.end, scratch);
    /* Of a page without missing values only the strings in rows that are read. */
    const struct row_set *rows = read->rows;
    const bool some = page->kept < page->header.values && page->present == (size_t)page->header.values;
    const size_t ranges = some ? rows->count : 0;
    size_t range = some ? row_set_find(rows, page->row) : 0;
    struct batch batch;
    batch_begin(&batch, &in, leaf, column->interners[member], numbers);
    for (size_t i = 0; i < values.present && error == READ_OK; i++) {
        struct text text;
        error = byte_arrays_next(&in, &text);
        while (range < ranges && rows->ends[range] <= page->row + (int64_t)i)
            range++;
        if (error == READ_OK && some && (range == ranges || rows->begins[range] > page->row + (int64_t)i))
            continue;
        if (error == READ_OK)
            error = batch_add(&batch, text, i, &page->decoded.bad);
    }
    return error == READ_OK ? batch_end(&batch, &page->decoded.bad) : error;
}

void text_intern_page(const struct read *read, struct page_read *page, int member)
{
    page->member = member;
    page->error = intern_values(read, page, member);
}

/* Makes the chunk's dictionary one of codes. */
static void translate_dictionary(struct chunk_read *chunk, size_t size)
{
    const uint32_t *map = chunk->column->maps[chunk->member];
    struct page_dictionary *dictionary = &chunk->dictionary;
    dictionary->values = heap_array(dictionary->count + 1, size);
    for (size_t i = 0; i < dictionary->count; i++)
        store_code(dictionary->values, size, i, map[chunk->numbers[i]]);
}

static enum status too_much_text(const struct read *read, const struct column_read *column)
{
    const struct format_job *job = read->job;
    return diag_error(job->diags, job->span,
                      "`%s`, column `%s`: a string is too long, or there are more than %d different ones",
                      mapping_path(read->reader->mapping), column->leaf->path, DICTIONARY_MAX);
}

static enum status join_column(struct read *read, struct column_read *column)
{
    const struct format_job *job = read->job;
    const size_t threads = (size_t)job->workers->threads;
    column->maps = heap_array(threads, sizeof(uint32_t *));
    struct dictionary *dictionary = dictionary_of_interners(column->interners, threads, column->maps, job->workers);
    if (!dictionary)
        return workers_cancelled(job->workers) ? STATUS_CANCELLED : too_much_text(read, column);
    if (column->numbers && dictionary_code_type(dictionary->count) == TYPE_U32 && !column->kept) {
        column->column = column_ref(column->numbers);
        column_set_logical(column->column, (struct logical_type){.kind = LOGICAL_TEXT, .dictionary = dictionary});
    } else {
        column->column = column_reserve_codes(job->workers->pool, dictionary, column_read_rows(column));
    }
    dictionary_unref(dictionary);
    if (!column->column)
        return file_memory_error(mapping_path(read->reader->mapping), job->span, job->diags);
    return STATUS_OK;
}

enum status text_join(struct read *read)
{
    for (size_t k = 0; k < read->column_count; k++) {
        struct column_read *column = &read->columns[k];
        const enum status status = column->interners ? join_column(read, column) : STATUS_OK;
        if (status != STATUS_OK)
            return status;
    }
    for (size_t i = 0; i < read->chunk_count; i++) {
        struct chunk_read *chunk = &read->chunks[i];
        if (chunk->column->interners && chunk->has_dictionary)
            translate_dictionary(chunk, type_table[chunk->column->column->store].size);
    }
    return STATUS_OK;
}

/* The codes may take the place of the numbers, which are not narrower. */
void text_translate_page(const struct page_read *page, void *codes)
{
    const struct column_read *column = page->chunk->column;
    const uint32_t *numbers = column_at(column->numbers, page->row);
    const uint32_t *map = column->maps[page->member];
    const size_t size = type_table[column->column->store].size;
    for (size_t i = 0; i < page->present; i++)
        store_code(codes, size, i, map[numbers[i]]);
}

void text_translate_rows(const struct read *read, const struct page_read *page, void *codes)
{
    const struct row_set *rows = read->rows;
    const struct column_read *column = page->chunk->column;
    const uint32_t *map = column->maps[page->member];
    const int64_t end = page->row + page->header.values;
    size_t size = type_table[column->column->store].size, done = 0;
    for (size_t i = row_set_find(rows, page->row); i < rows->count && rows->begins[i] < end; i++) {
        const int64_t last = min_int64(rows->ends[i], end);
        for (int64_t row = max_int64(rows->begins[i], page->row); row < last; row++)
            store_code(codes, size, done++, map[*(const uint32_t *)column_at(column->numbers, row)]);
    }
}
