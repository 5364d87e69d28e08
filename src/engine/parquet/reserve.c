/* Memory for the columns that are read, as narrow as their values are likely to be. */
#include "base/buffer_pool.h"
#include "base/heap.h"
#include "engine/parquet/read.h"
#include "engine/storage/mapped_file.h"
#include "engine/storage/narrow_copy.h"

/* Whether a column of text has pages without indices. */
static bool has_loose_text(const struct read *read, const struct column_read *column)
{
    for (size_t i = 0; i < read->page_count; i++) {
        if (read->pages[i]->chunk->column == column && !page_has_indices(read->pages[i]))
            return leaf_is_text(column->leaf);
    }
    return false;
}

/* Reserves a byte for each value: whether it is there, and its levels. */
static bool reserve_levels(const struct read *read, struct column_read *column)
{
    struct buffer_pool *pool = read->job->workers->pool;
    if (column->leaf->definition > 0) {
        column->validity = column_reserve_from(pool, TYPE_BOOL, TYPE_BOOL, column->rows);
        if (!column->validity)
            return false;
    }
    if (column->leaf->repetition == 0)
        return true;
    column->definitions = column_reserve_from(pool, TYPE_U8, TYPE_U8, column->rows);
    column->repetitions = column_reserve_from(pool, TYPE_U8, TYPE_U8, column->rows);
    return column->definitions && column->repetitions;
}

/* Reserves what a column needs before its dictionaries are read. */
static bool reserve_column(struct read *read, struct column_read *column)
{
    const struct leaf *leaf = column->leaf;
    const bool unsorted = leaf_is_text(leaf) && read->job->unsorted_from > 0 && unsorted_text_reserve(read, column);
    if (leaf_is_text(leaf) && !unsorted) {
        const size_t threads = (size_t)read->job->workers->threads;
        column->interners = heap_array(threads, sizeof(struct interner *));
        for (size_t i = 0; i < threads; i++)
            column->interners[i] = interner_new();
        if (has_loose_text(read, column)) {
            column->numbers = column_reserve_from(read->job->workers->pool, TYPE_U32, TYPE_U32, column->rows);
            if (!column->numbers)
                return false;
        }
    }
    return reserve_levels(read, column);
}

/* A few bytes of a file can stand for very many rows, so what they need is compared with the memory there is. */
enum status reserve_columns(struct read *read)
{
    int64_t bytes = 0;
    bool fits = true;
    for (size_t i = 0; i < read->page_count && fits; i++) {
        const struct leaf *leaf = read->pages[i]->chunk->column->leaf;
        int64_t added,
            per_row = (int64_t)type_table[leaf->type].size + (leaf->definition > 0) + 2 * (leaf->repetition > 0);
        fits = !__builtin_mul_overflow(read->pages[i]->header.values, per_row, &added) &&
               !__builtin_add_overflow(bytes, added, &bytes);
    }
    fits = fits && buffer_pool_takes(read->job->workers->pool, bytes);
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
    int64_t lo = leaf->definition > 0 ? 0 : INT64_MAX, hi = leaf->definition > 0 ? 0 : INT64_MIN;
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

enum status reserve_elements(struct read *read, struct column_read *column, enum type store)
{
    const struct leaf *leaf = column->leaf;
    column_unref(column->column);
    column->column = column_reserve_from(read->job->workers->pool, leaf->type, store, column_read_rows(column));
    if (!column->column)
        return file_memory_error(mapping_path(read->reader->mapping), read->job->span, read->job->diags);
    column_set_logical(column->column, leaf->logical);
    for (size_t i = 0; i < column->chunk_count && store != leaf->type; i++)
        page_dictionary_narrow(&column->chunks[i].dictionary, type_table[leaf->type].size, type_table[store].size);
    return STATUS_OK;
}

enum status reserve_numbers(struct read *read)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < read->column_count && status == STATUS_OK; k++) {
        struct column_read *column = &read->columns[k];
        if (!leaf_is_text(column->leaf))
            status = reserve_elements(read, column, store_of(column, &column->guessed));
    }
    return status;
}
