/* The first error of those that threads have recorded. */
#include "engine/parquet/read.h"

#include "engine/storage/mapped_file.h"

static const char *const messages[READ_ERROR_COUNT] = {
    [READ_BAD_HEADER] = "is damaged: the header of a page cannot be parsed",
    [READ_BAD_ROWS] = "is damaged: its pages do not have as many rows as the row group",
    [READ_BAD_CHECKSUM] = "is damaged: a page does not match its checksum",
    [READ_BAD_BLOCK] = "is damaged: a page cannot be decompressed",
    [READ_BAD_LEVELS] = "is damaged: the levels of a page, which say what is missing, cannot be decoded",
    [READ_BAD_LISTS] = "is damaged: its levels do not say where lists begin",
    [READ_BAD_VALUES] = "is damaged: the values of a page cannot be decoded",
    [READ_BAD_INDEX] = "is damaged: a page refers to values that its dictionary does not have",
    [READ_BAD_ENCODING] = "has a page in an encoding that is unknown or not for its type",
};

/* The row of the list that has the value at `index` likewise. */
static int64_t row_of_element(const struct page_read *page, int64_t index)
{
    const struct chunk_read *chunk = page->chunk;
    const struct column_read *column = chunk->column;
    const uint8_t *definitions = column->definitions->data, *repetitions = column->repetitions->data;
    int64_t row = chunk->first_row - 1;
    for (int64_t i = chunk->row, seen = -1; i < page->row + page->header.values && seen < index; i++) {
        row += repetitions[i] == 0;
        seen += i >= page->row && definitions[i] == column->leaf->definition;
    }
    return row;
}

/* The row of the value at `index` among those of the page that are not missing. */
static int64_t row_of_value(const struct page_read *page, int64_t index)
{
    const struct column *validity = page->chunk->column->validity;
    const int64_t rows = page->header.values;
    if (page->chunk->column->leaf->repetition > 0)
        return row_of_element(page, index);
    if (page->present == (size_t)rows || !validity)
        return page->row + index;
    int64_t row = page->row;
    for (int64_t seen = -1;; row++) {
        seen += ((const uint8_t *)validity->data)[row];
        if (seen == index || row == page->row + rows - 1)
            return row;
    }
}

static const char *value_problem(const struct leaf *leaf)
{
    switch (leaf->conversion) {
    case CONVERT_U64:
        return "the value exceeds 9223372036854775807, the largest integer";
    case CONVERT_BIG_ENDIAN:
        return "the decimal does not fit 64 bits";
    case CONVERT_SECONDS:
    case CONVERT_MILLIS:
        return "the time is beyond the range of microseconds in 64 bits";
    default:
        return leaf_is_text(leaf) ? "the text is not UTF-8" : "the value is not of the type that the file says";
    }
}

static enum status report_value(const struct read *read, const struct page_read *page, const char *path,
                                const char *name)
{
    const struct format_job *job = read->job;
    const struct leaf *leaf = page->chunk->column->leaf;
    diag_error(job->diags, job->span, "`%s`, column `%s`, row %lld: %s", path, name,
               (long long)row_of_value(page, page->decoded.bad), value_problem(leaf));
    if (leaf->conversion == CONVERT_U64 || leaf->conversion == CONVERT_BIG_ENDIAN)
        diag_hint(job->diags,
                  "the other columns can be read; in the program that wrote the file, make `%s` text or floats", name);
    return STATUS_FAILED;
}

static enum status report(const struct read *read, const struct chunk_read *chunk, const struct page_read *page,
                          enum read_error error)
{
    const struct format_job *job = read->job;
    const struct parquet_reader *reader = read->reader;
    const char *path = mapping_path(reader->mapping);
    const char *name = chunk->column->leaf->path;
    if (error == READ_NO_MEMORY)
        return file_memory_error(path, job->span, job->diags);
    if (error == READ_NOT_UTF8 || error == READ_NOT_IN_RANGE)
        return report_value(read, page, path, name);
    if (error == READ_NO_LIBRARY) {
        diag_error(job->diags, job->span, "`%s`, column `%s`: this build of rql cannot decompress %s", path, name,
                   page_codec_name(chunk->chunk->codec));
        return diag_hint(job->diags, "install %s and build rql again", page_codec_lacks(chunk->chunk->codec));
    }
    return diag_error(job->diags, job->span, "`%s`, column `%s`, row group %zu %s", path, name, chunk->group,
                      messages[error]);
}

enum status read_report(const struct read *read)
{
    for (size_t i = 0; i < read->chunk_count; i++) {
        const struct chunk_read *chunk = &read->chunks[i];
        if (chunk->error != READ_OK)
            return report(read, chunk, NULL, chunk->error);
        for (size_t k = 0; k < chunk->count; k++) {
            if (chunk->pages[k].error != READ_OK)
                return report(read, chunk, &chunk->pages[k], chunk->pages[k].error);
        }
    }
    return STATUS_OK;
}
