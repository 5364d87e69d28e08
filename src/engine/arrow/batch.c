#include "engine/arrow/batch.h"

#include "base/parallel.h"
#include "base/zeroed.h"
#include "engine/arrow/ipc.h"

enum { FREE_ROWS = 4096 };
enum { PREFIX = 8 }; /* bytes before a packed buffer: its length unpacked */

bool arrow_batch_read(const struct flat_table *table, const unsigned char *body, size_t length,
                      struct arrow_batch *batch)
{
    *batch = (struct arrow_batch){.rows = flat_int(table, BATCH_ROWS, 8, 0),
                                  .body = body,
                                  .length = length,
                                  .nodes = flat_vector(table, BATCH_NODES, ARROW_NODE_BYTES),
                                  .buffers = flat_vector(table, BATCH_BUFFERS, ARROW_BUFFER_BYTES),
                                  .variadic = flat_vector(table, BATCH_VARIADIC, 8),
                                  .codec = BLOCK_NONE};
    if (flat_has(table, BATCH_COMPRESSION)) {
        struct flat_table compression = flat_child(table, BATCH_COMPRESSION);
        int64_t codec = flat_int(&compression, 0, 1, ARROW_LZ4), method = flat_int(&compression, 1, 1, 0);
        if ((codec != ARROW_LZ4 && codec != ARROW_ZSTD) || method != 0)
            return false;
        batch->codec = codec == ARROW_LZ4 ? BLOCK_LZ4_FRAME : BLOCK_ZSTD;
    }
    return table->buffer && !table->buffer->failed && batch->rows >= 0 && batch->rows <= INT64_MAX / 64;
}

/* The place of a buffer; false if it is not within the body. */
static bool place(const struct arrow_batch *batch, size_t index, size_t *offset, size_t *length)
{
    *offset = (size_t)flat_vector_int(&batch->buffers, index, 0, 8);
    *length = (size_t)flat_vector_int(&batch->buffers, index, 8, 8);
    return *length == 0 || (*offset <= batch->length && *length <= batch->length - *offset);
}

bool arrow_buffer_place(const struct arrow_batch *batch, size_t index, size_t *offset, size_t *length)
{
    return index < batch->buffers.count && place(batch, index, offset, length);
}

bool arrow_batch_check(const struct arrow_batch *batch, size_t nodes, size_t buffers, size_t variadic)
{
    if (batch->nodes.count != nodes || batch->variadic.count < variadic)
        return false;
    size_t expected = buffers;
    for (size_t k = 0; k < variadic; k++) {
        const int64_t count = flat_vector_int(&batch->variadic, k, 0, 8);
        if (count < 0 || __builtin_add_overflow(expected, (size_t)count, &expected))
            return false;
    }
    if (batch->buffers.count != expected)
        return false;
    size_t total = 0;
    for (size_t k = 0; k < expected; k++) {
        size_t offset, length;
        if (!place(batch, k, &offset, &length) || length > batch->length - total)
            return false;
        total += length;
    }
    return true;
}

/* The most bytes that a buffer of `length` bytes can unpack to: LZ4 has at most 255 for each of its own, zstd 128 KiB
 * for a block of four. */
static size_t most_bytes(const struct arrow_batch *batch, size_t length)
{
    size_t most;
    if (batch->codec == BLOCK_NONE || length < PREFIX)
        return length;
    if (batch->codec == BLOCK_LZ4_FRAME)
        return __builtin_mul_overflow(length, 255, &most) ? SIZE_MAX : most;
    return __builtin_mul_overflow(length / 4 + 1, (size_t)1 << 17, &most) ? SIZE_MAX : most;
}

/* Whether a buffer may hold `bytes`. */
static bool may_hold(const struct arrow_batch *batch, size_t index, size_t bytes)
{
    size_t offset, length;
    return arrow_buffer_place(batch, index, &offset, &length) && bytes <= most_bytes(batch, length);
}

/* The bytes that the second buffer must have for these rows. */
static size_t bytes_of(const struct arrow_field *field, bool values, int64_t rows)
{
    if (field->in_dictionary && !values)
        return (size_t)rows * field->index_width;
    if (field->reading == READING_BITS)
        return ((size_t)rows + 7) / 8;
    if (field->reading == READING_TEXT || field->reading == READING_LIST)
        return rows == 0 ? 0 : ((size_t)rows + 1) * field->width;
    return (size_t)rows * field->width;
}

/* Whether the array of a field has as many rows as those around it say. */
static bool has_rows(const struct arrow_batch *batch, const struct arrow_field *field, int64_t rows)
{
    const struct arrow_field *parent = field->parent;
    if (!parent)
        return rows == batch->rows;
    const int64_t around = flat_vector_int(&batch->nodes, parent->node, 0, 8);
    if (parent->reading == READING_STRUCT)
        return rows == around;
    int64_t all = rows;
    if (parent->reading == READING_FIXED_LIST && __builtin_mul_overflow(around, parent->list_size, &all))
        return false;
    /* Rows without buffers cost nothing in a file. */
    const size_t most = 64 * (batch->length < SIZE_MAX / 128 ? batch->length : 0) + FREE_ROWS;
    return rows == all && rows >= 0 && rows <= INT64_MAX / 64 && (field->sized || (size_t)rows <= most);
}

bool arrow_array_of(const struct arrow_batch *batch, const struct arrow_field *field, bool values,
                    struct arrow_array *array)
{
    const size_t node = values ? 0 : field->node;
    *array = (struct arrow_array){.batch = batch, .buffer = values ? 0 : field->buffer};
    size_t variadic = values ? 0 : field->variadic; /* counts before this field's own */
    const bool view = field->reading == READING_VIEW && (values || !field->in_dictionary);
    if (node >= batch->nodes.count || variadic + view > batch->variadic.count)
        return false;
    for (size_t k = 0; k < variadic; k++)
        array->buffer += (size_t)flat_vector_int(&batch->variadic, k, 0, 8);
    array->missing = flat_vector_int(&batch->nodes, node, 8, 8);
    array->rows = flat_vector_int(&batch->nodes, node, 0, 8);
    if (values ? array->rows != batch->rows : !has_rows(batch, field, array->rows))
        return false;
    if (field->reading == READING_NULL) {
        array->missing = array->rows;
        return true;
    }
    if (array->missing < 0 || array->missing > array->rows)
        return false;
    if (view)
        array->variadic = (size_t)flat_vector_int(&batch->variadic, variadic, 0, 8);
    if (array->missing > 0 && !may_hold(batch, array->buffer, ((size_t)array->rows + 7) / 8))
        return false;
    if (field->reading == READING_STRUCT || field->reading == READING_FIXED_LIST)
        return true;
    const size_t bytes = bytes_of(field, values, array->rows);
    return may_hold(batch, array->buffer + 1, bytes) &&
           (field->reading != READING_LIST_VIEW || may_hold(batch, array->buffer + 2, bytes));
}

bool arrow_bytes_load(const struct arrow_array *array, size_t index, struct arrow_bytes *bytes)
{
    const struct arrow_batch *batch = array->batch;
    size_t offset, length;
    *bytes = (struct arrow_bytes){0};
    if (!arrow_buffer_place(batch, array->buffer + index, &offset, &length))
        return false;
    if (length == 0)
        return true;
    *bytes = (struct arrow_bytes){.data = batch->body + offset, .size = length};
    if (batch->codec == BLOCK_NONE)
        return true;
    if (length < PREFIX)
        return false;
    const int64_t size = load_int(bytes->data, PREFIX);
    bytes->data += PREFIX;
    bytes->size -= PREFIX;
    if (size == -1) /* left as it is, because packing would not make it smaller */
        return true;
    if (size < 0 || (size_t)size > most_bytes(batch, length))
        return false;
    if (size == 0) {
        bytes->size = 0;
        return true;
    }
    void *unpacked = zeroed_alloc((size_t)size);
    if (!unpacked || !block_decompress(NULL, batch->codec, bytes->data, bytes->size, unpacked, (size_t)size)) {
        zeroed_free(unpacked, (size_t)size);
        return false;
    }
    *bytes = (struct arrow_bytes){.data = unpacked, .size = (size_t)size, .unpacked = unpacked};
    return true;
}

void arrow_bytes_release(struct arrow_bytes *bytes)
{
    if (bytes->unpacked)
        zeroed_free(bytes->unpacked, bytes->size);
    *bytes = (struct arrow_bytes){0};
}
