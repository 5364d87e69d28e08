#include "engine/parquet/read.h"

#include "base/heap.h"
#include "base/integer.h"
#include "base/memory_size.h"
#include "engine/storage/mapped_file.h"
#include "engine/storage/narrow_copy.h"

#include <stdlib.h>
#include <string.h>

/* Whether some of these rows are read. */
static bool reads_rows(const struct read *read, int64_t row, int64_t rows)
{
    if (read->rows) {
        const size_t i = row_set_find(read->rows, row);
        return i < read->rows->count && read->rows->begins[i] < row + rows;
    }
    return row < read->head || row + rows > read->reader->base.rows - read->tail;
}

/* Lists the pages of a chunk until they have all its rows. */
static enum read_error find_pages(const struct read *read, struct chunk_read *chunk)
{
    const struct parquet_reader *reader = read->reader;
    const uint8_t *at = parquet_chunk_begin(reader, chunk->chunk), *end = parquet_pages_end(reader);
    int64_t row = chunk->row, left = chunk->rows;
    if (!reads_rows(read, row, left))
        return READ_OK;
    if (chunk->chunk->values != left)
        return READ_BAD_ROWS;
    while (left > 0) {
        struct page_header header;
        if (!at || !page_header_read(&at, end, &header))
            return READ_BAD_HEADER;
        if (header.type == PAGE_DICTIONARY && !chunk->has_dictionary) {
            chunk->dictionary_page = header;
            chunk->has_dictionary = true;
        }
        if (header.type != PAGE_DATA && header.type != PAGE_DATA_V2)
            continue;
        if (header.values > left)
            return READ_BAD_ROWS;
        if (reads_rows(read, row, header.values)) {
            chunk->pages = heap_reserve(chunk->pages, chunk->count, &chunk->capacity, sizeof *chunk->pages);
            struct page_read *page = &chunk->pages[chunk->count++];
            *page = (struct page_read){.header = header, .chunk = chunk, .row = row, .to = row, .kept = header.values};
            if (read->rows) {
                page->to = row_set_before(read->rows, row);
                page->kept = row_set_before(read->rows, row + header.values) - page->to;
            }
        }
        row += header.values;
        left -= header.values;
    }
    return READ_OK;
}

static void find_part(void *context, int member, int64_t part)
{
    (void)member;
    struct read *read = context;
    struct chunk_read *chunk = &read->chunks[part];
    chunk->error = find_pages(read, chunk);
}

static enum read_error open_dictionary(struct read *read, struct chunk_read *chunk, int member)
{
    const struct leaf *leaf = chunk->column->leaf;
    struct page_values values;
    enum read_error error =
        page_open_dictionary(&chunk->dictionary_page, chunk->chunk->codec, &read->scratch[member], &values);
    if (error != READ_OK)
        return error;
    return leaf_is_text(leaf) ? text_intern_dictionary(read, chunk, &values, member)
                              : decode_dictionary(leaf, &values, &read->scratch[member], &chunk->dictionary);
}

static void dictionary_part(void *context, int member, int64_t part)
{
    struct read *read = context;
    struct chunk_read *chunk = &read->chunks[part];
    if (chunk->has_dictionary && !chunk->column->done && !chunk->column->unsorted)
        chunk->error = open_dictionary(read, chunk, member);
}

static void intern_part(void *context, int member, int64_t part)
{
    struct read *read = context;
    struct page_read *page = read->pages[part];
    if (page->chunk->column->numbers && !page_has_indices(page))
        text_intern_page(read, page, member);
}

/* Copies the elements of a page's rows that are read. */
static void keep_elements(const struct row_set *rows, const struct page_read *page, size_t size, const void *elements,
                          void *to)
{
    const int64_t end = page->row + page->header.values;
    char *at = to;
    for (size_t i = row_set_find(rows, page->row); i < rows->count && rows->begins[i] < end; i++) {
        const int64_t first = max_int64(rows->begins[i], page->row), last = min_int64(rows->ends[i], end);
        const size_t bytes = (size_t)(last - first) * size;
        memcpy(at, (const char *)elements + (size_t)(first - page->row) * size, bytes);
        at += bytes;
    }
}

static enum read_error decode_page(const struct read *read, struct page_read *page, int member)
{
    struct column_read *column = page->chunk->column;
    const struct leaf *leaf = column->leaf;
    struct scratch *scratch = &read->scratch[member];
    const size_t rows = (size_t)page->header.values, size = type_table[column->column->store].size;
    const bool whole = page->kept == page->header.values;
    const struct page_dictionary *dictionary = &page->chunk->dictionary;
    uint8_t *validity = column->validity ? column_at(column->validity, page->row) : NULL;
    void *kept = column_at(column->column, page->to), *to = kept;
    if (!whole)
        to = scratch_reserve(scratch, &scratch->elements, rows * sizeof(int64_t));
    if (!to)
        return READ_NO_MEMORY;
    enum read_error error = READ_OK;
    if (column->unsorted) {
        error = unsorted_text_decode(read, page, member);
    } else if (leaf_is_text(leaf) && !page_has_indices(page)) {
        if (!whole && page->present == rows) {
            text_translate_rows(read, page, kept);
            return READ_OK;
        }
        text_translate_page(page, to);
    } else {
        struct page_values values;
        error = page_open_data(&page->header, page->chunk->chunk->codec, leaf->optional, scratch, validity, &values);
        if (error != READ_OK)
            return error;
        page->present = values.present;
        if (!whole && page->present == rows && page_has_indices(page) && !dictionary->dubious)
            return decode_some_indices(&values, dictionary, size, read->rows, page->row, kept, &page->decoded);
        if (page_has_indices(page))
            error = decode_indices(&values, dictionary, size, to, &page->decoded);
        else if (!column->guessed)
            error = decode_numbers(leaf, page->header.encoding, &values, scratch, to, &page->decoded);
        else
            error = decode_narrow(leaf, page->header.encoding, &values, scratch, to, &page->decoded);
        if (column->guessed && values.present > 0 && (page->decoded.lo < INT32_MIN || page->decoded.hi > INT32_MAX))
            column->too_wide = true;
    }
    if (error == READ_OK && page->present < rows)
        decode_spread(to, size, validity, rows, page->present);
    if (error == READ_OK && !whole)
        keep_elements(read->rows, page, size, to, kept);
    return error;
}

static void decode_part(void *context, int member, int64_t part)
{
    struct read *read = context;
    struct page_read *page = read->pages[part];
    if (!page->chunk->column->done && !page->chunk->column->too_wide)
        page->error = decode_page(read, page, member);
}

/* Runs a step on all threads and reports its errors. */
static enum status run_step(struct read *read, size_t parts, part_fn *part)
{
    if (parts > 0 && !workers_run(read->job->workers, (int64_t)parts, part, read))
        return STATUS_CANCELLED;
    return read_report(read);
}

/* Lists the pages of all chunks. */
static enum status list_pages(struct read *read)
{
    const enum status status = run_step(read, read->chunk_count, find_part);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < read->chunk_count; i++)
        read->page_count += read->chunks[i].count;
    read->pages = heap_array(read->page_count + 1, sizeof(struct page_read *));
    size_t count = 0;
    for (size_t i = 0; i < read->chunk_count; i++) {
        for (size_t k = 0; k < read->chunks[i].count; k++)
            read->pages[count++] = &read->chunks[i].pages[k];
    }
    return STATUS_OK;
}

/* Whether a column of text has pages without indices. */
static bool has_loose_text(const struct read *read, const struct column_read *column)
{
    for (size_t i = 0; i < read->page_count; i++) {
        if (read->pages[i]->chunk->column == column && !page_has_indices(read->pages[i]))
            return leaf_is_text(column->leaf);
    }
    return false;
}

/* Reserves what a column needs before its dictionaries are read. */
static bool reserve_column(struct read *read, struct column_read *column)
{
    const struct leaf *leaf = column->leaf;
    struct buffer_pool *pool = read->job->workers->pool;
    const int64_t rows = read->reader->base.rows;
    if (read->job->unsorted_text && !read->rows && unsorted_text_is_possible(read, column)) {
        if (unsorted_text_reserve(read, column) != STATUS_OK)
            return false;
    } else if (leaf_is_text(leaf)) {
        const size_t threads = (size_t)read->job->workers->threads;
        column->interners = heap_array(threads, sizeof(struct interner *));
        for (size_t i = 0; i < threads; i++)
            column->interners[i] = interner_new();
        if (has_loose_text(read, column)) {
            column->numbers = column_reserve_from(pool, TYPE_U32, TYPE_U32, rows);
            if (!column->numbers)
                return false;
        }
    }
    if (leaf->optional)
        column->validity = column_reserve_from(pool, TYPE_BOOL, TYPE_BOOL, rows);
    return !leaf->optional || column->validity;
}

/* A few bytes of a file can stand for very many rows, so what they need is compared with the memory there is. */
static enum status reserve_columns(struct read *read)
{
    int64_t bytes = 0;
    bool fits = true;
    for (size_t i = 0; i < read->page_count && fits; i++) {
        const struct leaf *leaf = read->pages[i]->chunk->column->leaf;
        int64_t added, per_row = (int64_t)type_table[leaf->type].size + leaf->optional;
        fits = !__builtin_mul_overflow(read->pages[i]->header.values, per_row, &added) &&
               !__builtin_add_overflow(bytes, added, &bytes);
    }
    fits = fits && system_memory_has(bytes);
    for (size_t k = 0; k < read->column_count && fits; k++)
        fits = reserve_column(read, &read->columns[k]);
    if (fits)
        return STATUS_OK;
    return file_memory_error(mapping_path(read->reader->mapping), read->job->span, read->job->diags);
}

/* Whether integers are likely to fit 32 bits. If they do not, the pages before that is found are decoded twice. */
static bool may_be_narrow(const struct leaf *leaf)
{
    return leaf->type == TYPE_I64 && leaf->conversion == CONVERT_COPY && !logical_is_time(leaf->logical);
}

/* A narrow type for the elements of a column: the narrowest if its values are all in dictionaries. */
static enum type store_of(const struct column_read *column, bool *guessed)
{
    const struct leaf *leaf = column->leaf;
    const struct chunk_read *chunks = column->chunks;
    int64_t lo = leaf->optional ? 0 : INT64_MAX, hi = leaf->optional ? 0 : INT64_MIN;
    bool only_indices = true;
    for (size_t i = 0; i < column->chunk_count; i++) {
        if (chunks[i].count == 0)
            continue;
        for (size_t k = 0; k < chunks[i].count && only_indices; k++)
            only_indices = page_has_indices(&chunks[i].pages[k]);
        if (!chunks[i].has_dictionary)
            continue;
        lo = chunks[i].dictionary.lo < lo ? chunks[i].dictionary.lo : lo;
        hi = chunks[i].dictionary.hi > hi ? chunks[i].dictionary.hi : hi;
    }
    *guessed = !only_indices && may_be_narrow(leaf) && (lo > hi || (lo >= INT32_MIN && hi <= INT32_MAX));
    if (*guessed)
        return TYPE_I32;
    return only_indices && lo <= hi ? narrow_type(leaf->type, lo, hi) : leaf->type;
}

/* Reserves a column for numbers whose dictionaries are read, and makes these as narrow. */
static enum status reserve_elements(struct read *read, struct column_read *column, enum type store)
{
    const struct leaf *leaf = column->leaf;
    column_unref(column->column);
    column->column = column_reserve_from(read->job->workers->pool, leaf->type, store, read_rows(read));
    if (!column->column)
        return file_memory_error(mapping_path(read->reader->mapping), read->job->span, read->job->diags);
    column_set_logical(column->column, leaf->logical);
    for (size_t i = 0; i < column->chunk_count && store != leaf->type; i++)
        page_dictionary_narrow(&column->chunks[i].dictionary, type_table[leaf->type].size, type_table[store].size);
    return STATUS_OK;
}

static enum status reserve_numbers(struct read *read)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < read->column_count && status == STATUS_OK; k++) {
        struct column_read *column = &read->columns[k];
        if (!leaf_is_text(column->leaf))
            status = reserve_elements(read, column, store_of(column, &column->guessed));
    }
    return status;
}

/* Decodes the columns whose values are not as narrow as was guessed. */
static enum status decode_wide(struct read *read)
{
    enum status status = STATUS_OK;
    bool some = false;
    for (size_t k = 0; k < read->column_count && status == STATUS_OK; k++) {
        struct column_read *column = &read->columns[k];
        column->done = !column->too_wide;
        if (column->done)
            continue;
        some = true;
        column->guessed = false;
        column->too_wide = false;
        for (size_t i = 0; i < column->chunk_count; i++)
            page_dictionary_free(&column->chunks[i].dictionary);
        status = reserve_elements(read, column, column->leaf->type);
    }
    if (status == STATUS_OK && some)
        status = run_step(read, read->chunk_count, dictionary_part);
    return status == STATUS_OK && some ? run_step(read, read->page_count, decode_part) : status;
}

/* Sets what is known when all pages are decoded: the range, and which values are missing. False: no memory. */
static bool finish_column(struct read *read, struct column_read *column)
{
    int64_t rows = read->reader->base.rows, lo = INT64_MAX, hi = INT64_MIN, floored = 0;
    bool missing = false;
    struct page_read **pages = read->pages;
    for (size_t i = 0; i < read->page_count; i++) {
        if (pages[i]->chunk->column != column)
            continue;
        missing = missing || pages[i]->present < (size_t)pages[i]->header.values;
        lo = pages[i]->decoded.lo < lo ? pages[i]->decoded.lo : lo;
        hi = pages[i]->decoded.hi > hi ? pages[i]->decoded.hi : hi;
        floored += pages[i]->decoded.floored;
    }
    for (size_t i = 0; i < read->page_count && missing; i++) {
        const size_t values = (size_t)pages[i]->header.values;
        if (pages[i]->chunk->column == column && pages[i]->present == values)
            memset(column_at(column->validity, pages[i]->row), 1, values);
    }
    if (missing) {
        column_finish(column->validity, rows);
        struct column *validity = column->validity;
        column->validity = NULL;
        if (read->rows) {
            struct column *all = validity;
            validity = row_set_take(read->rows, all, read->job->workers->pool);
            column_unref(all);
            if (!validity)
                return false;
        }
        column_set_validity(column->column, validity);
        lo = lo < 0 ? lo : 0;
        hi = hi > 0 ? hi : 0;
    }
    if (type_table[column->column->type].kind == KIND_INT && !leaf_is_text(column->leaf) && lo <= hi) {
        column->column->range_known = true;
        column->column->lo = lo;
        column->column->hi = hi;
    }
    column_finish(column->column, read_rows(read));
    if (floored > 0)
        diag_note(read->job->diags, (struct span){0}, "`%s`, column `%s`: nanoseconds were cut in %lld values",
                  mapping_path(read->reader->mapping),
                  read->reader->base.columns[column->leaf - read->reader->leaves].name, (long long)floored);
    return true;
}

static enum status read_columns(struct read *read)
{
    enum status status = list_pages(read);
    if (status == STATUS_OK)
        status = reserve_columns(read);
    if (status == STATUS_OK)
        status = run_step(read, read->chunk_count, dictionary_part);
    if (status == STATUS_OK)
        status = run_step(read, read->page_count, intern_part);
    if (status == STATUS_OK)
        status = text_join(read);
    if (status == STATUS_OK)
        status = reserve_numbers(read);
    if (status == STATUS_OK)
        status = run_step(read, read->page_count, decode_part);
    return status == STATUS_OK ? decode_wide(read) : status;
}

/* Lists the wanted columns and their chunks. */
static void read_init(struct read *read, const bool *wanted)
{
    const struct parquet_reader *reader = read->reader;
    const struct footer *footer = &reader->footer;
    const size_t threads = (size_t)read->job->workers->threads;
    read->scratch = heap_array(threads, sizeof *read->scratch);
    for (size_t i = 0; i < threads; i++)
        read->scratch[i].pool = read->job->workers->pool;
    size_t count = 0;
    for (size_t k = 0; k < reader->base.count; k++)
        count += wanted[k];
    read->columns = heap_array(count + 1, sizeof *read->columns);
    read->chunks = heap_array(count * footer->group_count + 1, sizeof *read->chunks);
    for (size_t k = 0; k < reader->base.count; k++) {
        if (!wanted[k])
            continue;
        struct column_read *column = &read->columns[read->column_count++];
        column->leaf = &reader->leaves[k];
        column->chunks = &read->chunks[read->chunk_count];
        int64_t row = 0;
        for (size_t i = 0; i < footer->group_count; i++) {
            const struct row_group *group = &footer->groups[i];
            read->chunks[read->chunk_count++] = (struct chunk_read){.column = column,
                                                                    .chunk = &group->chunks[column->leaf->index],
                                                                    .group = i,
                                                                    .row = row,
                                                                    .rows = group->rows};
            row += group->rows;
        }
        column->chunk_count = (size_t)(&read->chunks[read->chunk_count] - column->chunks);
    }
}

static void column_read_free(struct column_read *column, int threads)
{
    for (int i = 0; i < threads; i++) {
        if (column->interners)
            interner_free(column->interners[i]);
        if (column->maps)
            free(column->maps[i]);
    }
    free((void *)column->interners);
    free((void *)column->maps);
    column_unref(column->column);
    column_unref(column->validity);
    column_unref(column->numbers);
    dictionary_unref(column->unsorted);
}

static void read_free(struct read *read)
{
    const int threads = read->job->workers->threads;
    for (size_t i = 0; i < read->chunk_count; i++) {
        page_dictionary_free(&read->chunks[i].dictionary);
        free(read->chunks[i].numbers);
        free(read->chunks[i].pages);
    }
    for (size_t k = 0; k < read->column_count; k++)
        column_read_free(&read->columns[k], threads);
    for (int i = 0; i < threads; i++)
        scratch_free(&read->scratch[i]);
    free(read->scratch);
    free(read->columns);
    free(read->chunks);
    free((void *)read->pages);
}

static enum status run_read(struct read *read, const bool *wanted, struct column **columns)
{
    const struct format_job *job = read->job;
    const struct mapping *mapping = read->reader->mapping;
    const size_t diags_before = job->diags->count;
    read_init(read, wanted);
    enum status status = read_columns(read);
    if (status != STATUS_CANCELLED && mapping_changed(mapping)) {
        job->diags->count = diags_before; /* errors in a changing file mean nothing */
        status = mapping_check_unchanged(mapping, job->span, job->diags);
    }
    for (size_t k = 0; k < read->column_count && status == STATUS_OK; k++) {
        if (!finish_column(read, &read->columns[k]))
            status = file_memory_error(mapping_path(mapping), job->span, job->diags);
    }
    for (size_t k = 0; k < read->column_count && status == STATUS_OK; k++) {
        struct column_read *column = &read->columns[k];
        columns[column->leaf - read->reader->leaves] = column->column;
        column->column = NULL;
    }
    read_free(read);
    return status;
}

enum status parquet_read_ends(struct file_reader *base, const struct format_job *job, const bool *wanted, int64_t head,
                              int64_t tail, struct column **columns)
{
    struct read read = {.reader = (const struct parquet_reader *)base, .job = job, .head = head, .tail = tail};
    return run_read(&read, wanted, columns);
}

enum status parquet_read_rows(struct file_reader *base, const struct format_job *job, const bool *wanted,
                              const struct row_set *rows, struct column **columns)
{
    struct read read = {.reader = (const struct parquet_reader *)base, .job = job, .rows = rows};
    return run_read(&read, wanted, columns);
}

enum status parquet_read(struct file_reader *base, const struct format_job *job, const bool *wanted,
                         struct column **columns)
{
    return parquet_read_ends(base, job, wanted, INT64_MAX, 0, columns);
}
