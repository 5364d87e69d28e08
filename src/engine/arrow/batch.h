/* Record batches and the arrays in them: where the buffers of each column are in the file. */
#ifndef RQL_ENGINE_ARROW_BATCH_H
#define RQL_ENGINE_ARROW_BATCH_H

#include "engine/arrow/schema.h"
#include "engine/compression/block_codec.h"

/* A record batch, or the batch of a dictionary. The vectors are within the file's metadata. */
struct arrow_batch {
    int64_t first, rows;       /* its rows in the table, or its values in the dictionary */
    const unsigned char *body; /* in the mapped file */
    size_t length;             /* of the body */
    struct flat_vector nodes, buffers, variadic;
    enum block_codec codec; /* of each buffer */
    size_t dictionaries;    /* of a record batch: batches of dictionaries that come before it */
};

/* The array of one column, or of one dictionary's values, in a batch. */
struct arrow_array {
    const struct arrow_batch *batch;
    int64_t rows, missing;
    size_t buffer;   /* number of the first: the validity */
    size_t variadic; /* views: number of variadic buffers, after the first two */
};

/* A buffer in memory. */
struct arrow_bytes {
    const unsigned char *data;
    size_t size;
    void *unpacked; /* owned, or NULL */
};

/* Reads a RecordBatch table; false if it is damaged or its codec is unknown. */
bool arrow_batch_read(const struct flat_table *table, const unsigned char *body, size_t length,
                      struct arrow_batch *batch);

/* Whether the batch has as many nodes and buffers as the schema needs, all within its body, and not more bytes in them
 * than it has itself. */
bool arrow_batch_check(const struct arrow_batch *batch, size_t nodes, size_t buffers, size_t variadic);

/* The array of a field of a checked batch; false if it has not as many rows as the batch, or the arrays around it, or
 * its buffers are too short to hold them. `values`: of the field's dictionary, in that dictionary's batch; otherwise as
 * the record batch has it. */
bool arrow_array_of(const struct arrow_batch *batch, const struct arrow_field *field, bool values,
                    struct arrow_array *array);

/* Where buffer `index` of the batch is in its body; false if it is not within that. */
bool arrow_buffer_place(const struct arrow_batch *batch, size_t index, size_t *offset, size_t *length);

/* Buffer number `index` of an array, unpacked; false if that fails. Release it. */
bool arrow_bytes_load(const struct arrow_array *array, size_t index, struct arrow_bytes *bytes);
void arrow_bytes_release(struct arrow_bytes *bytes);

/* strings.c: the strings of an array, by offsets or by views. */

struct arrow_strings {
    enum reading reading;
    size_t width;
    int64_t rows;
    struct arrow_bytes places; /* offsets or views */
    struct arrow_bytes *bytes; /* one for offsets; the variadic buffers of views */
    size_t count;
};

/* Loads the buffers of an array of text; false if that fails or they are too short. Release it in either case. */
bool arrow_strings_open(const struct arrow_array *array, const struct arrow_field *field,
                        struct arrow_strings *strings);
void arrow_strings_close(struct arrow_strings *strings);

/* The string of a row; false if it is not within its buffer. */
bool arrow_string_at(const struct arrow_strings *strings, int64_t row, struct text *text);

#endif
