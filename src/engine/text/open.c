#include "engine/text/text_files.h"

#include "base/heap.h"
#include "engine/text/table.h"

#include <string.h>

static const struct dialect dialect_csv = {.extension = ".csv", .delimiter = ',', .header = true, .quotes = true};
static const struct dialect dialect_tsv = {.extension = ".tsv", .delimiter = '\t', .header = true, .escapes = true};
static const struct dialect dialect_jsonl = {.extension = ".jsonl", .delimiter = ',', .header = true, .json = true};
static const struct dialect dialect_text = {.extension = ".txt", .delimiter = '\n'};

void text_reader_describe(struct text_reader *reader, size_t k)
{
    const struct table_column *column = &reader->table.columns[k];
    reader->base.columns[k] = (struct reader_column){
        .name = column->name,
        .type = column->type,
        .logical = table_column_logical(column),
        .nullable = true,
    };
}

/* The length of the whole lines at the beginning of a text, if it is long. */
static size_t head_length(const char *text, size_t length)
{
    enum { HEAD_BYTES = 1 << 20 };
    const char *newline = length > HEAD_BYTES ? memrchr(text, '\n', HEAD_BYTES) : NULL;
    return newline ? (size_t)(newline + 1 - text) : length;
}

/* Sets the table's text without a byte order mark. */
static void set_text(struct table *table, const char *text, size_t length)
{
    table->text = table->begin = text;
    table->end = text + length;
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        table->begin += 3;
}

static enum status open_table(const struct format_job *job, struct mapping *mapping, const struct dialect *dialect,
                              struct file_reader **opened)
{
    struct text_reader *reader = heap_array(1, sizeof *reader);
    struct table *table = &reader->table;
    const char *text = mapping_data(mapping);
    reader->base.ops = &text_reader_ops;
    reader->base.provisional = true;
    reader->arena = arena_new();
    reader->mapping = mapping_ref(mapping);
    reader->dialect = *dialect;
    table->dialect = &reader->dialect;
    const size_t length = mapping_length(mapping);
    set_text(table, text ? text : "", job->text && job->text->head ? head_length(text, length) : length);
    enum status status = table_open(table, &reader->dialect, job, mapping_path(mapping), reader->arena);
    if (status == STATUS_OK && !table_cut(table, job->workers))
        status = STATUS_CANCELLED;
    if (status != STATUS_OK) {
        text_reader_ops.close(&reader->base);
        return status;
    }
    table_guess_kinds(table);
    reader->base.rows = table->rows;
    for (size_t k = 0; k < table->count; k++)
        reader->base.count += !table->columns[k].nested; /* these come last */
    reader->base.columns = arena_array(reader->arena, reader->base.count, sizeof *reader->base.columns);
    for (size_t k = 0; k < reader->base.count; k++)
        text_reader_describe(reader, k);
    *opened = &reader->base;
    return STATUS_OK;
}

enum status open_csv(const struct format_job *job, struct mapping *mapping, struct file_reader **reader)
{
    return open_table(job, mapping, &dialect_csv, reader);
}

enum status open_tsv(const struct format_job *job, struct mapping *mapping, struct file_reader **reader)
{
    return open_table(job, mapping, &dialect_tsv, reader);
}

enum status open_jsonl(const struct format_job *job, struct mapping *mapping, struct file_reader **reader)
{
    return open_table(job, mapping, &dialect_jsonl, reader);
}

enum status open_text(const struct format_job *job, struct mapping *mapping, struct file_reader **reader)
{
    return open_table(job, mapping, &dialect_text, reader);
}
