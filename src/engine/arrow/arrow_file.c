#include "engine/arrow/arrow_file.h"

#include "engine/arrow/ipc.h"

#include <string.h>

enum { MAX_VALUES = INT32_MAX - 1 }; /* of the batches of one dictionary */

/* The file's bytes as they are read. */
struct input {
    const struct format_job *job;
    struct arrow_file *file;
    const char *path;
    const unsigned char *data;
    size_t size;
    size_t read; /* bytes of all messages read: no two of them overlap, so they are at most the file's */
};

struct message {
    int64_t version, kind;
    struct flat_table header;
    const unsigned char *body;
    size_t length, end; /* of the body; where the next message begins */
    bool last;          /* instead of a message, the mark at the end of a stream */
};

static enum status damaged(const struct input *input, const char *what)
{
    return diag_error(input->job->diags, input->job->span, "`%s` is damaged: %s", input->path, what);
}

static enum status truncated(const struct input *input)
{
    return diag_error(input->job->diags, input->job->span,
                      "`%s` is truncated or damaged: a message goes beyond its end", input->path);
}

static struct flat_buffer *new_buffer(const struct input *input, size_t at, size_t size)
{
    return ARENA_NEW(input->file->arena, struct flat_buffer, .data = input->data + at, .size = size);
}

/* Arrow 0.17 packed buffers in a way of its own. */
static bool is_experimental(const struct flat_table *message)
{
    return flat_pair(message, MESSAGE_METADATA, "ARROW:experimental_compression").at;
}

static enum status check_version(const struct input *input, int64_t version)
{
    if (version >= ARROW_V4 && version <= ARROW_V5)
        return STATUS_OK;
    return diag_error_hint(input->job->diags, input->job->span, "write it again with a current version of Arrow",
                           "`%s` is of version %lld of the Arrow format; 4 and 5 can be read", input->path,
                           (long long)version + 1);
}

static enum status read_message(struct input *input, size_t at, struct message *message)
{
    *message = (struct message){0};
    const size_t begin = at;
    uint32_t word = ARROW_CONTINUATION;
    for (int i = 0; i < 2 && word == ARROW_CONTINUATION; i++, at += sizeof word) {
        if (at > input->size || input->size - at < sizeof word)
            return truncated(input);
        memcpy(&word, input->data + at, sizeof word);
    }
    message->end = at;
    message->last = word == 0;
    if (message->last)
        return STATUS_OK;
    if (word > input->size - at)
        return truncated(input);
    struct flat_table table = flat_root(new_buffer(input, at, word));
    at += word;
    message->version = flat_int(&table, MESSAGE_VERSION, 2, 0);
    message->kind = flat_int(&table, MESSAGE_HEADER_TYPE, 1, 0);
    message->header = flat_child(&table, MESSAGE_HEADER);
    message->body = input->data + at;
    message->length = (size_t)flat_int(&table, MESSAGE_BODY, 8, 0);
    if (!message->header.buffer || table.buffer->failed)
        return damaged(input, "the header of a message is not valid");
    if (message->length > input->size - at)
        return truncated(input);
    message->end = at + message->length;
    input->read += message->end - begin;
    if (input->read > input->size)
        return damaged(input, "its messages overlap");
    if (is_experimental(&table))
        return diag_error(input->job->diags, input->job->span,
                          "`%s` is compressed by Arrow 0.17, in a way of its own: write it again", input->path);
    return check_version(input, message->version);
}

static enum status check_codec(const struct input *input, const struct arrow_batch *batch)
{
    const char *package = block_codec_lacks(batch->codec);
    if (!package)
        return STATUS_OK;
    diag_error(input->job->diags, input->job->span, "`%s` is compressed by %s, which this build cannot read",
               input->path, block_codec_name(batch->codec));
    return diag_hint(input->job->diags, "install the package %s and build again", package);
}

static enum status column_error(const struct input *input, const struct arrow_field *field)
{
    return diag_error(input->job->diags, input->job->span, "`%s` is damaged: column `%s` lacks buffers for its rows",
                      input->path, field->path);
}

static enum status add_batch(const struct input *input, const struct flat_table *table, const struct message *message)
{
    struct arrow_file *file = input->file;
    const struct arrow_schema *schema = &file->schema;
    struct arrow_batch batch;
    if (!arrow_batch_read(table, message->body, message->length, &batch) ||
        !arrow_batch_check(&batch, schema->nodes, schema->buffers, schema->variadic))
        return damaged(input, "a record batch does not have the buffers of its schema");
    if (check_codec(input, &batch) != STATUS_OK)
        return STATUS_FAILED;
    for (size_t k = 0; k < schema->all_count; k++) {
        struct arrow_array array;
        if (arrow_is_wanted(schema->all[k]) && !arrow_array_of(&batch, schema->all[k], false, &array))
            return column_error(input, schema->all[k]);
    }
    batch.first = file->rows;
    batch.dictionaries = file->dictionary_count;
    if (__builtin_add_overflow(file->rows, batch.rows, &file->rows) || file->rows > INT64_MAX / 64)
        return damaged(input, "it has too many rows");
    if (batch.rows > 0) {
        file->batches =
            arena_reserve(file->arena, file->batches, file->batch_count, &file->batch_capacity, sizeof *file->batches);
        file->batches[file->batch_count++] = batch;
    }
    return STATUS_OK;
}

/* Whether the batch has the values of a dictionary as a field needs them. */
static bool has_values(const struct arrow_batch *batch, const struct arrow_field *field)
{
    struct arrow_array array;
    const bool view = field->reading == READING_VIEW;
    return arrow_batch_check(batch, 1, view ? 2 : 3, view) && arrow_array_of(batch, field, true, &array);
}

/* The number of values in the batches of a dictionary so far. */
static int64_t values_of(const struct arrow_file *file, int64_t id)
{
    for (size_t k = file->dictionary_count; k-- > 0;) {
        if (file->dictionaries[k].id == id)
            return file->dictionaries[k].batch.first + file->dictionaries[k].batch.rows;
    }
    return 0;
}

static enum status add_dictionary(const struct input *input, const struct flat_table *table,
                                  const struct message *message)
{
    struct arrow_file *file = input->file;
    struct arrow_dictionary dictionary = {.id = flat_int(table, DICTIONARY_ID, 8, 0),
                                          .delta = flat_int(table, DICTIONARY_DELTA, 1, 0) != 0};
    struct flat_table data = flat_child(table, DICTIONARY_DATA);
    if (!arrow_batch_read(&data, message->body, message->length, &dictionary.batch))
        return damaged(input, "a dictionary is not valid");
    bool wanted = false;
    for (size_t k = 0; k < file->schema.all_count; k++) {
        const struct arrow_field *field = file->schema.all[k];
        if (!field->in_dictionary || !arrow_is_wanted(field) || field->dictionary != dictionary.id)
            continue;
        wanted = true;
        if (check_codec(input, &dictionary.batch) != STATUS_OK)
            return STATUS_FAILED;
        if (!has_values(&dictionary.batch, field))
            return column_error(input, field);
    }
    if (!wanted)
        return STATUS_OK; /* of columns that are left out */
    dictionary.batch.first = values_of(file, dictionary.id);
    if (dictionary.batch.rows > MAX_VALUES - dictionary.batch.first)
        return damaged(input, "a dictionary is too large");
    file->dictionaries = arena_reserve(file->arena, file->dictionaries, file->dictionary_count,
                                       &file->dictionary_capacity, sizeof *file->dictionaries);
    file->dictionaries[file->dictionary_count++] = dictionary;
    return STATUS_OK;
}

static enum status add_message(const struct input *input, const struct message *message)
{
    if (message->kind == ARROW_DICTIONARY)
        return add_dictionary(input, &message->header, message);
    if (message->kind == ARROW_BATCH)
        return add_batch(input, &message->header, message);
    return damaged(input, "a message is neither a record batch nor a dictionary");
}

/* Messages one after another: a schema, then the others. */
static enum status read_stream(struct input *input)
{
    struct message message;
    enum status status = read_message(input, 0, &message);
    if (status != STATUS_OK)
        return status;
    if (message.last || message.kind != ARROW_SCHEMA)
        return damaged(input, "it does not begin with a schema");
    status = arrow_schema_read(input->job, input->path, &message.header, message.version, input->file->arena,
                               &input->file->schema);
    while (status == STATUS_OK && message.end < input->size) {
        status = read_message(input, message.end, &message);
        if (status == STATUS_OK && message.last)
            return message.end == input->size ? STATUS_OK : damaged(input, "there is data after its end");
        if (status == STATUS_OK)
            status = add_message(input, &message);
    }
    return status;
}

static enum status need(const struct input *input, size_t offset, size_t length)
{
    const struct format_job *job = input->job;
    const struct byte_range range = {offset, length};
    return mapping_need(input->file->mapping, &range, 1, job->workers, job->span, job->diags);
}

/* Asks for the metadata of the messages that a vector of blocks lists. */
static enum status need_blocks(const struct input *input, const struct flat_vector *blocks)
{
    const struct format_job *job = input->job;
    if (!mapping_is_partial(input->file->mapping))
        return STATUS_OK;
    struct byte_range *ranges = arena_array(job->diags->arena, blocks->count + 1, sizeof *ranges);
    for (size_t k = 0; k < blocks->count; k++)
        ranges[k] = (struct byte_range){(size_t)flat_vector_int(blocks, k, 0, 8),
                                        (size_t)(uint32_t)flat_vector_int(blocks, k, 8, 4)};
    const enum status status =
        mapping_need(input->file->mapping, ranges, blocks->count, job->workers, job->span, job->diags);
    for (size_t k = 0; k < blocks->count && status == STATUS_OK; k++) {
        uint32_t words[2] = {0};
        if (ranges[k].offset > input->size || input->size - ranges[k].offset < sizeof words)
            return truncated(input);
        memcpy(words, input->data + ranges[k].offset, sizeof words);
        const size_t length = words[0] == ARROW_CONTINUATION ? sizeof words + words[1] : sizeof *words + words[0];
        if (length > ranges[k].length)
            return damaged(input, "its footer does not list its messages");
    }
    return status;
}

/* The messages that a vector of blocks of the footer lists. */
static enum status read_blocks(struct input *input, const struct flat_table *footer, unsigned field, int64_t kind)
{
    struct flat_vector blocks = flat_vector(footer, field, ARROW_BLOCK_BYTES);
    const enum status needed = need_blocks(input, &blocks);
    if (needed != STATUS_OK)
        return needed;
    for (size_t k = 0; k < blocks.count; k++) {
        const int64_t at = flat_vector_int(&blocks, k, 0, 8);
        struct message message;
        if (at < 0)
            return truncated(input);
        enum status status = read_message(input, (size_t)at, &message);
        if (status == STATUS_OK)
            status = message.kind == kind ? add_message(input, &message)
                                          : damaged(input, "its footer does not list its messages");
        if (status != STATUS_OK)
            return status;
    }
    return footer->buffer->failed ? damaged(input, "its footer is not valid") : STATUS_OK;
}

static enum status read_file(struct input *input)
{
    size_t tail = ARROW_MAGIC_BYTES + sizeof(uint32_t), size = 0;
    const unsigned char *end = input->data + input->size;
    if (input->size < 2 * tail || memcmp(end - ARROW_MAGIC_BYTES, ARROW_MAGIC, ARROW_MAGIC_BYTES) != 0)
        return diag_error(input->job->diags, input->job->span,
                          "`%s` is truncated: an Arrow file ends with a footer, which it lacks", input->path);
    memcpy(&size, end - tail, sizeof(uint32_t));
    if (size > input->size - 2 * tail)
        return damaged(input, "its footer is not valid");
    const enum status needed = need(input, input->size - tail - size, size);
    if (needed != STATUS_OK)
        return needed;
    struct flat_table footer = flat_root(new_buffer(input, input->size - tail - size, size));
    struct flat_table schema = flat_child(&footer, FOOTER_SCHEMA);
    if (!schema.buffer || footer.buffer->failed)
        return damaged(input, "its footer is not valid");
    /* Arrow 0.14 left the version out; those of the messages are checked. */
    const int64_t version = flat_int(&footer, FOOTER_VERSION, 2, 0);
    enum status status =
        arrow_schema_read(input->job, input->path, &schema, version, input->file->arena, &input->file->schema);
    if (status == STATUS_OK)
        status = read_blocks(input, &footer, FOOTER_DICTIONARIES, ARROW_DICTIONARY);
    if (status == STATUS_OK)
        status = read_blocks(input, &footer, FOOTER_BATCHES, ARROW_BATCH);
    return status;
}

/* Of a file that is elsewhere, the end tells whether it has a footer; a stream is read from its beginning to its end.
 */
static enum status need_ends(const struct input *input, bool *has_footer)
{
    const size_t tail = ARROW_MAGIC_BYTES + sizeof(uint32_t);
    *has_footer = false;
    if (!mapping_is_partial(input->file->mapping))
        return STATUS_OK;
    const enum status status = input->size > tail ? need(input, input->size - tail, tail) : STATUS_OK;
    if (status != STATUS_OK)
        return status;
    *has_footer = input->size > tail &&
                  memcmp(input->data + input->size - ARROW_MAGIC_BYTES, ARROW_MAGIC, ARROW_MAGIC_BYTES) == 0;
    return *has_footer ? STATUS_OK : need(input, 0, input->size);
}

enum status arrow_file_open(const struct format_job *job, struct arrow_file *file)
{
    struct input input = {.job = job,
                          .file = file,
                          .path = mapping_path(file->mapping),
                          .data = mapping_data(file->mapping),
                          .size = mapping_length(file->mapping)};
    bool has_footer;
    const enum status needed = need_ends(&input, &has_footer);
    if (needed != STATUS_OK)
        return needed;
    if (has_footer)
        return read_file(&input);
    if (input.size >= ARROW_MAGIC_BYTES && memcmp(input.data, ARROW_MAGIC, ARROW_MAGIC_BYTES) == 0)
        return read_file(&input);
    if (input.size >= 4 && memcmp(input.data, "FEA1", 4) == 0)
        return diag_error_hint(job->diags, job->span, "write it again: since version 2, Feather files are Arrow files",
                               "`%s` is a Feather file of version 1, which cannot be read", input.path);
    if (input.size < 8)
        return diag_error(job->diags, job->span, "`%s` is neither an Arrow file nor a stream", input.path);
    return read_stream(&input);
}

struct arrow_window arrow_dictionary_window(const struct arrow_file *file, int64_t id, const struct arrow_batch *batch)
{
    struct arrow_window window = {0};
    for (size_t k = 0; k < batch->dictionaries; k++) {
        const struct arrow_dictionary *dictionary = &file->dictionaries[k];
        if (dictionary->id != id)
            continue;
        window.end = dictionary->batch.first + dictionary->batch.rows;
        if (!dictionary->delta)
            window.first = dictionary->batch.first;
    }
    return window;
}
