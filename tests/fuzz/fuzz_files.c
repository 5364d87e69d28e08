/* libFuzzer target for the formats: any bytes are read as columns, or rejected with one error. The first byte selects
 * the format and how text files are written, the second the compression and what else is stated about them; every
 * element is read back. Formats that are read column by column must give each column alone what they give it among
 * all. */
#include "fuzzed_file.h"

#include "base/utf8.h"
#include "engine/compression/compression.h"
#include "engine/formats/formats.h"
#include "engine/storage/list_store.h"
#include "engine/storage/text_options.h"
#include "engine/values/dictionary.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at_dictionary(const struct dictionary *dictionary)
{
    for (int64_t code = 0; code < dictionary->count; code++) {
        struct text text = dictionary_text(dictionary, code);
        require(utf8_is_valid(text.at, text.length));
        require(code == 0 || text_compare(dictionary_text(dictionary, code - 1), text) < 0);
    }
}

static void look_at(const struct column *column, int64_t rows)
{
    require(column->rows == rows);
    bool floats = type_table[column->type].kind == KIND_FLOAT, text = column->logical.kind == LOGICAL_TEXT;
    const struct column *validity = column->validity;
    int64_t missing = 0;
    require(!validity || (validity->rows == column->rows && validity->type == TYPE_BOOL));
    if (text)
        look_at_dictionary(column->logical.dictionary);
    if (column->logical.kind == LOGICAL_LIST)
        look_at_lists(column, look_at);
    for (int64_t row = 0; row < column->rows; row++) {
        int64_t integer = floats ? 0 : column_get_int(column, row);
        double number = floats ? column_get_float(column, row) : 0;
        require(!column->range_known || (column->lo <= integer && integer <= column->hi));
        if (column_is_missing(column, row)) {
            missing++;
            require(integer == 0 && !(number < 0) && !(number > 0));
        } else {
            require(!text || integer < column->logical.dictionary->count);
            require(column->logical.kind != LOGICAL_LIST || integer < column->logical.lists->count);
        }
    }
    require(!validity || missing > 0);
}

static void require_equal(const struct column *a, const struct column *b)
{
    require(a->rows == b->rows && a->type == b->type && a->logical.kind == b->logical.kind);
    require(a->logical.zone == b->logical.zone && a->logical.scale == b->logical.scale);
    require(!a->validity == !b->validity);
    if (a->rows > 0)
        require(memcmp(a->data, b->data, (size_t)a->rows * type_table[a->store].size) == 0);
}

static enum status read_wanted(struct file_reader *reader, const struct format_job *job, const bool *wanted,
                               struct column **columns)
{
    size_t before = job->diags->count;
    enum status status = reader->ops->read(reader, job, wanted, columns);
    check_told_since(job->diags, before, status);
    return status;
}

/* Reads all columns of an open file, then each alone. */
static void read_columns(struct file_reader *reader, const struct format_job *job)
{
    bool *wanted = calloc(reader->count, sizeof *wanted);
    struct column **columns = calloc(reader->count, sizeof(struct column *));
    require(reader->count > 0 && wanted && columns);
    memset(wanted, 1, reader->count);
    bool all = read_wanted(reader, job, wanted, columns) == STATUS_OK;
    memset(wanted, 0, reader->count);
    for (size_t k = 0; k < reader->count && k < 20; k++) {
        struct column *alone = NULL;
        wanted[k] = true;
        struct column *const among = columns[k];
        columns[k] = NULL;
        bool read = read_wanted(reader, job, wanted, columns) == STATUS_OK;
        require(read || !all);
        alone = columns[k];
        columns[k] = among;
        wanted[k] = false;
        if (!read)
            continue;
        require(alone->rows == reader->rows && alone->logical.kind == reader->columns[k].logical.kind);
        look_at(alone, alone->rows);
        if (all)
            require_equal(alone, among);
        column_unref(alone);
    }
    for (size_t k = 0; k < reader->count && all; k++)
        column_unref(columns[k]);
    free(columns);
    free(wanted);
}

static void read_relation(const struct format_job *job, struct mapping *mapping)
{
    struct relation *relation = NULL;
    enum status status = format_read(job, mapping, &relation);
    check_told(job->diags, status);
    require((relation != NULL) == (status == STATUS_OK));
    require(!relation || relation->count > 0);
    for (size_t k = 0; relation && k < relation->count; k++) {
        require(relation->columns[k]->rows == relation->rows);
        look_at(relation->columns[k], relation->columns[k]->rows);
    }
    relation_unref(relation);
}

static void read_file(const struct format_job *job, struct mapping *mapping)
{
    if (!job->format->open) {
        read_relation(job, mapping);
        return;
    }
    struct file_reader *reader = NULL;
    enum status status = job->format->open(job, mapping, &reader);
    check_told(job->diags, status);
    if (status != STATUS_OK)
        return;
    read_columns(reader, job);
    reader->ops->close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct compression *const compressions[] = {NULL, NULL, &compression_gzip, &compression_zstd};
    static const struct stated_type stated[] = {
        {"a", TYPE_COUNT, {.kind = LOGICAL_DECIMAL, .scale = 2}},
        {"b", TYPE_I16, {.kind = LOGICAL_NUMBER}},
        {"c", TYPE_COUNT, {.kind = LOGICAL_TIMESTAMP}},
    };
    static const char *const missing[] = {"x", "-9"};
    const struct format *formats[64];
    size_t count = 0;
    for (size_t i = 0; i < format_count && count < 64; i++) {
        if (format_loads(&format_table[i]))
            formats[count++] = &format_table[i];
    }
    if (size < 2)
        return 0;
    struct arena *arena = arena_new();
    struct diags diags;
    diags_init(&diags, arena);
    const struct workers workers = {.threads = 1};
    const unsigned form = data[0] / (unsigned)count; /* a few bits */
    const struct text_options options = {.columns = stated,
                                         .count = data[1] / 4 % 4,
                                         .missing = data[1] & 16 ? missing : NULL,
                                         .missing_count = data[1] & 16 ? 2 : 0,
                                         .ragged = data[1] & 32,
                                         .errors = (enum text_errors)(data[1] / 64 % 3),
                                         .comment = form & 1 ? "#" : NULL,
                                         .encoding = form & 2 ? "latin1" : NULL,
                                         .skips = form & 4,
                                         .skip = 1,
                                         .decimal = form & 8 ? ',' : 0,
                                         .thousands = form & 1 ? '.' : 0,
                                         .dates = (enum date_order)(form % 4)};
    const struct format_job job = {
        .format = formats[data[0] % count], .workers = &workers, .diags = &diags, .text = &options};
    const struct compression *compression = compressions[data[1] % 4];
    struct mapping *mapping = mapping_of(data + 2, size - 2);
    enum status status =
        compression ? compression_open(compression, &mapping, &workers, (struct span){0}, &diags) : STATUS_OK;
    if (status == STATUS_OK)
        read_file(&job, mapping);
    else
        check_told(&diags, status);
    mapping_unref(mapping);
    arena_free(arena);
    return 0;
}
