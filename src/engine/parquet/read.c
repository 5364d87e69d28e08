#include "engine/parquet/read.h"

#include "base/heap.h"
#include "base/integer.h"
#include "engine/storage/mapped_file.h"

#include <stdlib.h>
#include <string.h>

static const int64_t MAX_VALUES = INT64_MAX / 64; /* of a column */

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
    const uint8_t *at = parquet_chunk_begin(reader, chunk->chunk), *end = parquet_chunk_end(reader, chunk->chunk);
    const bool in_lists = chunk->column->leaf->repetition > 0;
    int64_t row = chunk->row, left = chunk->rows;
    if (!reads_rows(read, chunk->first_row, chunk->row_count))
        return READ_OK;
    if (chunk->chunk->values != left || left < 0)
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
        if (in_lists || reads_rows(read, row, header.values)) {
            chunk->pages = heap_reserve(chunk->pages, chunk->count, &chunk->capacity, sizeof *chunk->pages);
            struct page_read *page = &chunk->pages[chunk->count++];
            *page = (struct page_read){.header = header, .chunk = chunk, .row = row, .to = row, .kept = header.values};
            if (chunk->column->kept) {
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
    if (chunk->column->unsorted)
        return unsorted_text_dictionary(read, chunk, member);
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
    if (chunk->has_dictionary && !chunk->column->done)
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

enum read_error read_open_page(const struct page_read *page, struct scratch *scratch, struct page_values *values)
{
    const struct column_read *column = page->chunk->column;
    const struct leaf *leaf = column->leaf;
    const struct page_levels levels = {
        .definition = leaf->definition,
        .repetition = leaf->repetition,
        .validity = column->validity ? column_at(column->validity, page->row) : NULL,
        .definitions = column->definitions ? column_at(column->definitions, page->row) : NULL,
        .repetitions = column->repetitions ? column_at(column->repetitions, page->row) : NULL,
    };
    return page_open_data(&page->header, page->chunk->chunk->codec, &levels, scratch, values);
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
    if (column->unsorted && !page_has_indices(page)) {
        error = unsorted_text_decode(read, page, member, to);
    } else if (leaf_is_text(leaf) && !page_has_indices(page)) {
        if (!whole && page->present == rows) {
            text_translate_rows(read, page, kept);
            return READ_OK;
        }
        text_translate_page(page, to);
    } else {
        struct page_values values;
        error = read_open_page(page, scratch, &values);
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
enum status read_step(struct read *read, size_t parts, part_fn *part)
{
    if (parts > 0 && !workers_run(read->job->workers, (int64_t)parts, part, read))
        return STATUS_CANCELLED;
    return read_report(read);
}

/* Lists the pages of all chunks. */
static enum status list_pages(struct read *read)
{
    const enum status status = read_step(read, read->chunk_count, find_part);
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
        status = read_step(read, read->chunk_count, dictionary_part);
    return status == STATUS_OK && some ? read_step(read, read->page_count, decode_part) : status;
}

/* Sets what is known when all pages are decoded: the range, and which values are missing. False: no memory. */
static bool finish_column(struct read *read, struct column_read *column)
{
    int64_t rows = column->rows, lo = INT64_MAX, hi = INT64_MIN, floored = 0;
    const bool in_lists = column->leaf->repetition > 0;
    int64_t present = 0;
    bool missing = false;
    struct page_read **pages = read->pages;
    for (size_t i = 0; i < read->page_count; i++) {
        if (pages[i]->chunk->column != column)
            continue;
        present += (int64_t)pages[i]->present;
        missing = missing || pages[i]->present < (size_t)pages[i]->header.values;
        lo = pages[i]->decoded.lo < lo ? pages[i]->decoded.lo : lo;
        hi = pages[i]->decoded.hi > hi ? pages[i]->decoded.hi : hi;
        floored += pages[i]->decoded.floored;
    }
    missing = in_lists ? present < rows : missing;
    for (size_t i = 0; i < read->page_count && missing && !in_lists; i++) {
        const size_t values = (size_t)pages[i]->header.values;
        if (pages[i]->chunk->column == column && pages[i]->present == values)
            memset(column_at(column->validity, pages[i]->row), 1, values);
    }
    if (missing) {
        column_finish(column->validity, rows);
        struct column *validity = column->validity;
        column->validity = NULL;
        if (column->kept) {
            struct column *all = validity;
            validity = row_set_take(column->kept, all, read->job->workers->pool);
            column_unref(all);
            if (!validity)
                return false;
        }
        column_set_validity(column->column, validity);
        lo = lo < 0 ? lo : 0;
        hi = hi > 0 ? hi : 0;
    }
    if (type_table[column->column->type].kind == KIND_INT && !leaf_is_text(column->leaf) && lo <= hi) {
        column_set_range(column->column, true, lo, hi);
    }
    column_finish(column->column, column_read_rows(column));
    column->column->logical.member = column->leaf->logical.member;
    if (floored > 0)
        diag_note(read->job->diags, (struct span){0}, "`%s`, column `%s`: nanoseconds were cut in %lld values",
                  mapping_path(read->reader->mapping), column->leaf->path, (long long)floored);
    return true;
}

/* Asks for the chunks that have rows which are read. */
static enum status need_chunks(const struct read *read)
{
    const struct format_job *job = read->job;
    struct mapping *mapping = read->reader->mapping;
    struct byte_range *ranges = heap_array(read->chunk_count + 1, sizeof *ranges);
    size_t count = 0;
    for (size_t i = 0; i < read->chunk_count && mapping_is_partial(mapping); i++) {
        if (reads_rows(read, read->chunks[i].first_row, read->chunks[i].row_count))
            ranges[count++] = parquet_chunk_range(read->reader, read->chunks[i].chunk);
    }
    const enum status status = mapping_need(mapping, ranges, count, job->workers, job->span, job->diags);
    free(ranges);
    return status;
}

static enum status read_columns(struct read *read)
{
    enum status status = need_chunks(read);
    if (status == STATUS_OK)
        status = list_pages(read);
    if (status == STATUS_OK)
        status = reserve_columns(read);
    if (status == STATUS_OK)
        status = read_step(read, read->chunk_count, dictionary_part);
    if (status == STATUS_OK)
        status = read_step(read, read->page_count, intern_part);
    if (status == STATUS_OK)
        status = text_join(read);
    if (status == STATUS_OK)
        status = reserve_numbers(read);
    if (status == STATUS_OK)
        status = read_step(read, read->page_count, decode_part);
    if (status == STATUS_OK)
        status = decode_wide(read);
    return status == STATUS_OK ? lists_keep_elements(read) : status;
}

static size_t count_leaves(const struct field *field)
{
    size_t count = field->leaf ? 1 : 0;
    for (size_t k = 0; k < field->elements.count; k++)
        count += count_leaves(&field->elements.at[k]);
    return count;
}

/* Adds a column and its chunks. Of a leaf in lists, all values of a row group are read if some of its rows are. */
static void add_column(struct read *read, const struct leaf *leaf)
{
    const struct footer *footer = &read->reader->footer;
    const bool in_lists = leaf->repetition > 0;
    struct column_read *column = &read->columns[read->column_count++];
    column->leaf = leaf;
    column->chunks = &read->chunks[read->chunk_count];
    column->kept = in_lists ? NULL : read->rows;
    int64_t row = 0;
    for (size_t i = 0; i < footer->group_count; i++) {
        const struct row_group *group = &footer->groups[i];
        const struct chunk *chunk = &group->chunks[leaf->index];
        int64_t rows = group->rows;
        if (in_lists)
            rows = reads_rows(read, row, rows) ? chunk->values : 0;
        if (rows < 0 || rows > MAX_VALUES - column->rows)
            rows = -1; /* which is told when its pages are looked for */
        read->chunks[read->chunk_count++] = (struct chunk_read){.column = column,
                                                                .chunk = chunk,
                                                                .group = i,
                                                                .first_row = row,
                                                                .row_count = group->rows,
                                                                .row = column->rows,
                                                                .rows = rows};
        column->rows += rows > 0 ? rows : 0;
        row += group->rows;
    }
    column->chunk_count = (size_t)(&read->chunks[read->chunk_count] - column->chunks);
}

static void add_field(struct read *read, const struct field *field)
{
    if (field->leaf)
        add_column(read, field->leaf);
    for (size_t k = 0; k < field->elements.count; k++)
        add_field(read, &field->elements.at[k]);
}

/* Lists the columns of the wanted fields, and their chunks. */
static void read_init(struct read *read, const bool *wanted)
{
    const struct fields *fields = &read->reader->fields;
    const size_t threads = (size_t)read->job->workers->threads;
    read->scratch = heap_array(threads, sizeof *read->scratch);
    for (size_t i = 0; i < threads; i++)
        read->scratch[i].pool = read->job->workers->pool;
    size_t count = 0;
    for (size_t k = 0; k < fields->count; k++)
        count += wanted[k] ? count_leaves(&fields->at[k]) : 0;
    read->columns = heap_array(count + 1, sizeof *read->columns);
    read->chunks = heap_array(count * read->reader->footer.group_count + 1, sizeof *read->chunks);
    for (size_t k = 0; k < fields->count; k++) {
        if (wanted[k])
            add_field(read, &fields->at[k]);
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
    column_unref(column->definitions);
    column_unref(column->repetitions);
}

static void read_free(struct read *read)
{
    const int threads = read->job->workers->threads;
    for (size_t i = 0; i < read->chunk_count; i++) {
        page_dictionary_free(&read->chunks[i].dictionary);
        free(read->chunks[i].numbers);
        free(read->chunks[i].elements);
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

static enum status make_columns(struct read *read, const bool *wanted, struct column **columns)
{
    const struct fields *fields = &read->reader->fields;
    struct column_read *next = read->columns;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < fields->count && status == STATUS_OK; k++) {
        if (wanted[k])
            status = lists_make_column(read, &fields->at[k], &next, &columns[k]);
    }
    for (size_t k = 0; k < fields->count && status != STATUS_OK; k++) {
        if (wanted[k]) {
            column_unref(columns[k]);
            columns[k] = NULL;
        }
    }
    return status;
}

/* The rows of the pages that were unpacked, of the column with most. */
static int64_t rows_unpacked(const struct read *read)
{
    int64_t most = 0;
    for (size_t k = 0; k < read->column_count; k++) {
        const struct column_read *column = &read->columns[k];
        int64_t rows = 0;
        for (size_t c = 0; c < column->chunk_count; c++) {
            for (size_t p = 0; p < column->chunks[c].count; p++)
                rows += column->chunks[c].pages[p].header.values;
        }
        most = max_int64(most, rows);
    }
    return most;
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
    if (status == STATUS_OK)
        status = make_columns(read, wanted, columns);
    if (job->unpacked)
        *job->unpacked += rows_unpacked(read);
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
