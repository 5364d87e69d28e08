#include "engine/text/text_files.h"

#include "base/heap.h"
#include "engine/json/json_keys.h"
#include "engine/storage/list_store.h"
#include "engine/text/encoding.h"
#include "engine/text/pass.h"
#include "engine/text/rewrite.h"
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
        .left_out = column->left_out,
    };
    if (column->kind == VALUE_LIST) {
        list_store_unref(reader->table.columns[k].unread);
        reader->table.columns[k].unread = reader->base.columns[k].logical.lists = json_unread_lists(&reader->table, k);
    }
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

/* Makes the reader's mapping one of CSV as rql reads it. */
static enum status rewrite(struct text_reader *reader, const struct format_job *job, struct strbuf *found)
{
    const struct text_options *stated = job->text;
    const char quote = stated ? stated->quote : 0, separator = stated ? stated->separator : 0;
    bool gaps = false;
    if (quote && quote != '"')
        return rewrite_quotes(job, quote, separator, &reader->mapping);
    if (separator || (stated && stated->skips) ||
        !text_is_drawn(mapping_data(reader->mapping), mapping_length(reader->mapping)))
        return STATUS_OK;
    const enum status status = rewrite_drawn(job, &reader->mapping, &gaps);
    strbuf_printf(found, "%sit is a drawn table%s", found->length > 0 ? "; " : "",
                  gaps ? ", some rows of which are points: they stand for rows that are not in it" : "");
    return status;
}

/* Makes the reader's mapping one of UTF-8. */
static enum status decode(struct text_reader *reader, const struct format_job *job, struct strbuf *found)
{
    const char *text = mapping_data(reader->mapping), *stated = job->text ? job->text->encoding : NULL;
    const char *encoding = stated ? stated : encoding_of_mark(text, mapping_length(reader->mapping));
    if (!encoding || strcmp(encoding, "utf8") == 0)
        return STATUS_OK;
    if (!stated)
        strbuf_printf(found, "it is UTF-16 (`encoding %s`)", encoding);
    return encoding_convert(job, encoding, &reader->mapping);
}

static enum status open_table(const struct format_job *job, struct mapping *mapping, const struct dialect *dialect,
                              struct file_reader **opened)
{
    struct text_reader *reader = heap_array(1, sizeof *reader);
    struct table *table = &reader->table;
    struct strbuf found = {0};
    const struct text_options *options = job->text;
    reader->base.ops = &text_reader_ops;
    reader->base.provisional = true;
    reader->arena = arena_new();
    reader->mapping = mapping_ref(mapping);
    reader->dialect = *dialect;
    table->dialect = &reader->dialect;
    enum status status = decode(reader, job, &found);
    if (status == STATUS_OK && dialect->quotes && mapping_length(reader->mapping) > 0)
        status = rewrite(reader, job, &found);
    mapping = reader->mapping;
    const char *text = mapping_data(mapping);
    const size_t length = mapping_length(mapping);
    set_text(table, text ? text : "", options && options->head ? head_length(text, length) : length);
    if (status == STATUS_OK)
        status = table_open(table, &reader->dialect, job, mapping_path(mapping), reader->arena, &found);
    if (status == STATUS_OK && table->pointed)
        strbuf_printf(
            &found,
            "%sthe key `%s` has a point, which separates the names of objects here: `rename` before it is saved",
            found.length > 0 ? "; " : "", table->pointed);
    if (status == STATUS_OK && !dialect->json && !table_cut(table, job->workers))
        status = STATUS_CANCELLED;
    if (status == STATUS_OK && found.length > 0)
        diag_note(job->diags, (struct span){0}, "`%s`: %s", mapping_path(mapping), found.text);
    strbuf_free(&found);
    if (status != STATUS_OK) {
        text_reader_ops.close(&reader->base);
        return status;
    }
    for (size_t k = 0; k < table->count && job->mentioned; k++) {
        const size_t node = table->columns[k].node;
        table->columns[k].left_out =
            json_kept(table->keys, node, job->mentioned) <= (table->keys->nodes[node].raw ? KEEP_FIELDS : KEEP_NONE);
    }
    const bool blank_lines = table->blank_lines && (table->count > 1 || dialect->json);
    if (blank_lines || table->comment || table->errors != ERRORS_TELL)
        table_cut_by_cells(table);
    table_guess_kinds(table);
    reader->base.rows = table->rows;
    while (reader->base.count < table->count && table->columns[reader->base.count].list == NO_COLUMN)
        reader->base.count++; /* those of elements come last */
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

bool text_keep_mentioned(const struct text_pieces *pieces, const struct mentioned *mentioned,
                         const struct workers *workers, struct growing_buffer *buffer)
{
    return json_keep_mentioned(pieces, mentioned, workers, buffer);
}
