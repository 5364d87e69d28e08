/* Relations as Arrow files and streams, not packed, so that they can be mapped. */
#include "engine/arrow/arrow.h"

#include "base/heap.h"
#include "engine/arrow/flatbuffer.h"
#include "engine/arrow/ipc.h"
#include "engine/arrow/schema.h"
#include "engine/arrow/written_arrays.h"
#include "engine/values/dictionary.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROWS_PER_BATCH = 1 << 20,
    BODY_ALIGNMENT = 64,
    CHUNK_VALUES = 1 << 16, /* converted at once */
    CHUNK_BYTES = CHUNK_VALUES * 16,
    PREFIX_BYTES = 8 /* before a message: the continuation and its length */
};

/* Where a message is, for the footer. */
struct footer_block {
    size_t at, metadata, body;
};

struct footer_blocks {
    struct footer_block *at;
    size_t count, capacity;
};

/* A buffer of a body. */
struct span_of_body {
    size_t offset, length;
};

struct output {
    const struct format_job *job;
    const struct relation *relation;
    const struct nest *root; /* its columns */
    struct writer *writer;
    size_t at;              /* bytes written */
    struct strbuf metadata; /* of the current message */
    unsigned char *chunk;   /* CHUNK_BYTES */
    struct footer_blocks dictionaries, batches;
};

static void put(struct output *output, const void *data, size_t size)
{
    writer_add(output->writer, data, size);
    output->at += size;
}

static void put_zeroes(struct output *output, size_t count)
{
    static const char zeroes[BODY_ALIGNMENT];
    put(output, zeroes, count);
}

static size_t padding_of(size_t size)
{
    return (BODY_ALIGNMENT - size % BODY_ALIGNMENT) % BODY_ALIGNMENT;
}

/* Begins a message whose header, to be appended, is then linked at the place returned. */
static size_t begin_message(struct output *output, enum arrow_header kind, size_t body)
{
    struct flat_slot slots[] = {
        [MESSAGE_VERSION] = {.width = 2, .value = ARROW_V5},
        [MESSAGE_HEADER_TYPE] = {.width = 1, .value = kind},
        [MESSAGE_HEADER] = {.width = 4},
        [MESSAGE_BODY] = {.width = 8, .value = (int64_t)body},
    };
    flat_begin(&output->metadata);
    flat_link(&output->metadata, 0, flat_add_table(&output->metadata, slots, MESSAGE_METADATA));
    return slots[MESSAGE_HEADER].at;
}

/* Writes the metadata, so that the body begins aligned. */
static void put_message(struct output *output, size_t body, struct footer_blocks *blocks)
{
    size_t begin = output->at, length = output->metadata.length;
    length += padding_of(begin + PREFIX_BYTES + length);
    uint32_t prefix[] = {ARROW_CONTINUATION, (uint32_t)length};
    put(output, prefix, sizeof prefix);
    put(output, output->metadata.text, output->metadata.length);
    put_zeroes(output, length - output->metadata.length);
    if (blocks) {
        *HEAP_PUSH(blocks->at, blocks->count, blocks->capacity) =
            (struct footer_block){begin, length + PREFIX_BYTES, body};
    }
}

static void put_schema(struct output *output)
{
    const size_t header = begin_message(output, ARROW_SCHEMA, 0);
    flat_link(&output->metadata, header, arrow_schema_add(&output->metadata, output->root));
    put_message(output, 0, NULL);
}

/* Appends a RecordBatch table; returns its place. */
static size_t add_batch(struct strbuf *metadata, int64_t rows, const struct written_array *arrays, size_t nodes,
                        const struct span_of_body *buffers, size_t count)
{
    struct flat_slot slots[] = {
        [BATCH_ROWS] = {.width = 8, .value = rows},
        [BATCH_NODES] = {.width = 4},
        [BATCH_BUFFERS] = {.width = 4},
    };
    const size_t table = flat_add_table(metadata, slots, 3);
    size_t vector = flat_add_vector(metadata, nodes, ARROW_NODE_BYTES);
    flat_link(metadata, slots[BATCH_NODES].at, vector);
    for (size_t k = 0; k < nodes; k++) {
        flat_set(metadata, vector + 4 + k * ARROW_NODE_BYTES, arrays[k].rows, 8);
        flat_set(metadata, vector + 4 + k * ARROW_NODE_BYTES + 8, arrays[k].missing, 8);
    }
    vector = flat_add_vector(metadata, count, ARROW_BUFFER_BYTES);
    flat_link(metadata, slots[BATCH_BUFFERS].at, vector);
    for (size_t k = 0; k < count; k++) {
        flat_set(metadata, vector + 4 + k * ARROW_BUFFER_BYTES, (int64_t)buffers[k].offset, 8);
        flat_set(metadata, vector + 4 + k * ARROW_BUFFER_BYTES + 8, (int64_t)buffers[k].length, 8);
    }
    return table;
}

/* Places a buffer of `length` bytes behind the body so far. */
static struct span_of_body place(size_t *body, size_t length)
{
    struct span_of_body span = {*body, length};
    *body += length + padding_of(length);
    return span;
}

/* Offsets of a dictionary's strings, from 0, in `width` bytes. */
static void put_offsets(struct output *output, const struct dictionary *dictionary, size_t width)
{
    for (int64_t begin = 0; begin <= dictionary->count; begin += CHUNK_VALUES) {
        int64_t left = dictionary->count + 1 - begin, count = left < CHUNK_VALUES ? left : CHUNK_VALUES;
        for (int64_t i = 0; i < count; i++) {
            uint64_t offset = dictionary->offsets[begin + i] - dictionary->offsets[0];
            memcpy(output->chunk + (size_t)i * width, &offset, width);
        }
        put(output, output->chunk, (size_t)count * width);
    }
    put_zeroes(output, padding_of((size_t)(dictionary->count + 1) * width));
}

static void put_dictionary(struct output *output, size_t id, const struct dictionary *dictionary)
{
    size_t width = arrow_dictionary_is_large(dictionary) ? 8 : 4, body = 0;
    const size_t bytes = (size_t)(dictionary->offsets[dictionary->count] - dictionary->offsets[0]);
    struct span_of_body buffers[] = {
        {0, 0}, place(&body, (size_t)(dictionary->count + 1) * width), place(&body, bytes)};
    const size_t header = begin_message(output, ARROW_DICTIONARY, body);
    struct flat_slot slots[] = {[DICTIONARY_ID] = {.width = 8, .value = (int64_t)id}, [DICTIONARY_DATA] = {.width = 4}};
    flat_link(&output->metadata, header, flat_add_table(&output->metadata, slots, 2));
    const struct written_array array = {.rows = dictionary->count};
    flat_link(&output->metadata, slots[DICTIONARY_DATA].at,
              add_batch(&output->metadata, dictionary->count, &array, 1, buffers, 3));
    put_message(output, body, &output->dictionaries);
    put_offsets(output, dictionary, width);
    put(output, dictionary->bytes + dictionary->offsets[0], bytes);
    put_zeroes(output, padding_of(bytes));
}

/* Bytes of the buffer of values. */
static size_t size_of_values(const struct column *column, int64_t rows)
{
    if (column->logical.kind == LOGICAL_TEXT)
        return (size_t)rows * sizeof(int32_t);
    if (column->logical.kind == LOGICAL_DECIMAL)
        return (size_t)rows * 16;
    if (column->type == TYPE_BOOL)
        return ((size_t)rows + 7) / 8;
    return (size_t)rows * type_table[column->type].size;
}

/* Bytes of 0 or 1 as bits. */
static void pack_bits(const uint8_t *from, int64_t count, unsigned char *to)
{
    memset(to, 0, ((size_t)count + 7) / 8);
    for (int64_t i = 0; i < count; i++)
        to[i / 8] |= (unsigned char)((from[i] != 0) << (i % 8));
}

/* One element as it is written, of at most 16 bytes. */
static void encode_value(const struct column *column, int64_t row, size_t width, unsigned char *to)
{
    if (type_table[column->type].kind == KIND_FLOAT) {
        double number = column_get_float(column, row);
        float narrow = (float)number;
        memcpy(to, width == sizeof narrow ? (const void *)&narrow : (const void *)&number, width);
        return;
    }
    int64_t integer = column_get_int(column, row), sign = integer < 0 ? -1 : 0;
    memcpy(to, &integer, width < 8 ? width : 8);
    if (width > 8)
        memcpy(to + 8, &sign, width - 8);
}

/* Writes values of rows begin.. in one chunk, which is a multiple of 8 rows but for the last. */
static void put_chunk(struct output *output, const struct column *column, int64_t begin, int64_t count)
{
    if (column->type == TYPE_BOOL) {
        pack_bits((const uint8_t *)column->data + begin, count, output->chunk);
    } else {
        const size_t width = size_of_values(column, 1);
        for (int64_t i = 0; i < count; i++)
            encode_value(column, begin + i, width, output->chunk + (size_t)i * width);
    }
    put(output, output->chunk, size_of_values(column, count));
}

static bool is_as_stored(const struct column *column)
{
    return column->store == column->type && column->type != TYPE_BOOL && column->logical.kind != LOGICAL_TEXT &&
           column->logical.kind != LOGICAL_DECIMAL;
}

static enum status put_values(struct output *output, const struct column *column, int64_t begin, int64_t rows)
{
    for (int64_t done = 0; done < rows; done += CHUNK_VALUES) {
        if (workers_cancelled(output->job->workers))
            return STATUS_CANCELLED;
        const int64_t count = rows - done < CHUNK_VALUES ? rows - done : CHUNK_VALUES;
        if (is_as_stored(column)) {
            const size_t width = type_table[column->type].size;
            put(output, (const char *)column->data + (size_t)(begin + done) * width, (size_t)count * width);
        } else {
            put_chunk(output, column, begin + done, count);
        }
    }
    put_zeroes(output, padding_of(size_of_values(column, rows)));
    return STATUS_OK;
}

static void put_bits(struct output *output, const uint8_t *bytes, int64_t rows)
{
    for (int64_t done = 0; done < rows; done += CHUNK_VALUES) {
        const int64_t count = rows - done < CHUNK_VALUES ? rows - done : CHUNK_VALUES;
        pack_bits(bytes + done, count, output->chunk);
        put(output, output->chunk, ((size_t)count + 7) / 8);
    }
    put_zeroes(output, padding_of(((size_t)rows + 7) / 8));
}

static void put_list_offsets(struct output *output, const struct written_array *array)
{
    const size_t width = array->is_large ? sizeof(int64_t) : sizeof(int32_t);
    for (int64_t done = 0; done <= array->rows; done += CHUNK_VALUES) {
        const int64_t left = array->rows + 1 - done, count = left < CHUNK_VALUES ? left : CHUNK_VALUES;
        for (int64_t i = 0; i < count; i++)
            memcpy(output->chunk + (size_t)i * width, &array->offsets[done + i], width); /* little-endian */
        put(output, output->chunk, (size_t)count * width);
    }
    put_zeroes(output, padding_of(((size_t)array->rows + 1) * width));
}

/* Places the buffers of an array; returns their number. */
static size_t place_array(const struct written_array *array, size_t *body, struct span_of_body *buffers)
{
    size_t count = 0;
    buffers[count++] = place(body, array->missing > 0 ? ((size_t)array->rows + 7) / 8 : 0);
    if (array->offsets)
        buffers[count++] =
            place(body, ((size_t)array->rows + 1) * (array->is_large ? sizeof(int64_t) : sizeof(int32_t)));
    else if (array->column)
        buffers[count++] = place(body, size_of_values(array->column, array->rows));
    return count;
}

static enum status put_array(struct output *output, const struct written_array *array)
{
    if (array->missing > 0)
        put_bits(output, array->valid, array->rows);
    if (array->offsets)
        put_list_offsets(output, array);
    return array->column ? put_values(output, array->column, array->begin, array->rows) : STATUS_OK;
}

static enum status put_arrays(struct output *output, const struct written_arrays *arrays, int64_t rows)
{
    struct span_of_body *buffers = heap_array(2 * arrays->count, sizeof *buffers);
    size_t body = 0, count = 0;
    for (size_t k = 0; k < arrays->count; k++)
        count += place_array(&arrays->at[k], &body, buffers + count);
    const size_t header = begin_message(output, ARROW_BATCH, body);
    flat_link(&output->metadata, header, add_batch(&output->metadata, rows, arrays->at, arrays->count, buffers, count));
    put_message(output, body, &output->batches);
    free(buffers);
    enum status status = STATUS_OK;
    for (size_t k = 0; k < arrays->count && status == STATUS_OK; k++)
        status = put_array(output, &arrays->at[k]);
    return status;
}

static enum status put_batch(struct output *output, int64_t begin, int64_t rows)
{
    struct written_arrays arrays;
    const char *problem = written_arrays_find(output->root, begin, rows, &arrays);
    enum status status = STATUS_OK;
    if (problem)
        status = diag_error(output->job->diags, output->job->span, "a record batch cannot be saved: %s", problem);
    else
        status = put_arrays(output, &arrays, rows);
    written_arrays_free(&arrays);
    return status;
}

static void put_dictionaries(struct output *output, const struct nest *nest)
{
    if (nest->column && nest->column->logical.kind == LOGICAL_TEXT)
        put_dictionary(output, nest->leaf, nest->column->logical.dictionary);
    for (const struct nest *field = nest->first; field; field = field->next)
        put_dictionaries(output, field);
}

/* The messages of a stream and the mark at its end. */
static enum status put_stream(struct output *output)
{
    const struct relation *relation = output->relation;
    put_schema(output);
    put_dictionaries(output, output->root);
    enum status status = STATUS_OK;
    for (int64_t begin = 0; status == STATUS_OK && (begin == 0 || begin < relation->rows); begin += ROWS_PER_BATCH) {
        const int64_t left = relation->rows - begin;
        status = put_batch(output, begin, left < ROWS_PER_BATCH ? left : ROWS_PER_BATCH);
    }
    const uint32_t end[] = {ARROW_CONTINUATION, 0};
    put(output, end, sizeof end);
    return status;
}

static void link_blocks(struct strbuf *footer, size_t at, const struct footer_blocks *blocks)
{
    const size_t vector = flat_add_vector(footer, blocks->count, ARROW_BLOCK_BYTES);
    flat_link(footer, at, vector);
    for (size_t k = 0; k < blocks->count; k++) {
        const size_t place_of = vector + 4 + k * ARROW_BLOCK_BYTES;
        flat_set(footer, place_of, (int64_t)blocks->at[k].at, 8);
        flat_set(footer, place_of + 8, (int64_t)blocks->at[k].metadata, 4);
        flat_set(footer, place_of + 16, (int64_t)blocks->at[k].body, 8);
    }
}

static void put_footer(struct output *output)
{
    struct strbuf *footer = &output->metadata;
    struct flat_slot slots[FOOTER_FIELDS] = {
        [FOOTER_VERSION] = {.width = 2, .value = ARROW_V5},
        [FOOTER_SCHEMA] = {.width = 4},
        [FOOTER_DICTIONARIES] = {.width = 4},
        [FOOTER_BATCHES] = {.width = 4},
    };
    flat_begin(footer);
    flat_link(footer, 0, flat_add_table(footer, slots, FOOTER_FIELDS));
    flat_link(footer, slots[FOOTER_SCHEMA].at, arrow_schema_add(footer, output->root));
    link_blocks(footer, slots[FOOTER_DICTIONARIES].at, &output->dictionaries);
    link_blocks(footer, slots[FOOTER_BATCHES].at, &output->batches);
    put(output, footer->text, footer->length);
    uint32_t length = (uint32_t)footer->length;
    put(output, &length, sizeof length);
    put(output, ARROW_MAGIC, ARROW_MAGIC_BYTES);
}

static enum status write_arrow(const struct format_job *job, const struct relation *relation, struct writer *writer,
                               bool file)
{
    struct arena *arena = arena_new();
    size_t leaves;
    struct output output = {.job = job,
                            .relation = relation,
                            .root = nest_of_relation(relation, arena, &leaves),
                            .writer = writer,
                            .chunk = heap_array(CHUNK_BYTES, 1)};
    if (file) {
        put(&output, ARROW_MAGIC, ARROW_MAGIC_BYTES);
        put_zeroes(&output, PREFIX_BYTES - ARROW_MAGIC_BYTES);
    }
    const enum status status = put_stream(&output);
    if (file && status == STATUS_OK)
        put_footer(&output);
    strbuf_free(&output.metadata);
    free(output.dictionaries.at);
    free(output.batches.at);
    free(output.chunk);
    arena_free(arena);
    return status;
}

enum status write_arrow_file(const struct format_job *job, const struct relation *relation, struct writer *writer)
{
    return write_arrow(job, relation, writer, true);
}

enum status write_arrow_stream(const struct format_job *job, const struct relation *relation, struct writer *writer)
{
    return write_arrow(job, relation, writer, false);
}
