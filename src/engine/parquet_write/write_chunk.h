/* Encoding the rows of one column in one row group. */
#ifndef RQL_ENGINE_PARQUET_WRITE_WRITE_CHUNK_H
#define RQL_ENGINE_PARQUET_WRITE_WRITE_CHUNK_H

#include "base/strbuf.h"
#include "engine/compression/block_codec.h"
#include "engine/parquet/footer.h"
#include "engine/storage/column.h"
#include "engine/storage/nesting.h"

/* write_levels.c: the levels of a leaf within structs and lists, for writing it. */

/* From a field of the root to a leaf. */
struct leaf_path {
    const struct nest *const *nests;
    size_t count;
    unsigned definition, repetition; /* the highest levels */
};

/* The levels of some rows; the rows of the leaf that have a value. */
struct row_levels {
    uint8_t *definitions, *repetitions;
    int64_t *rows; /* of the values that are there */
    size_t count, present;
};

/* How deep a leaf is, from the nests of its path. */
void leaf_path_set_levels(struct leaf_path *path);

/* The levels of rows begin..end-1. False: no memory; otherwise free them. */
bool row_levels_find(const struct leaf_path *path, int64_t begin, int64_t end, struct row_levels *levels);
void row_levels_free(struct row_levels *levels);

/* How a column is stored. */
struct column_format {
    const struct column *column;
    enum physical physical;
    size_t width;                 /* of PHYSICAL_FIXED */
    bool is_time;                 /* a duration of which all values are times of day */
    const struct leaf_path *path; /* of a column within structs or lists, else NULL */
};

struct chunk_bytes {
    struct strbuf pages;
    size_t data;          /* where the first data page begins; 0: there is no dictionary */
    int64_t uncompressed; /* bytes of all pages, with their headers */
    int64_t values;       /* missing ones included */
    int64_t missing;
    struct strbuf least, most; /* the extreme values as statistics have them */
    bool has_range;
    bool has_indices;
    const char *problem; /* what prevents writing it, or NULL */
};

/* Encodes rows begin..end-1 of the relation, of which there is one or more. */
void chunk_encode(const struct column_format *format, int64_t begin, int64_t end, enum block_codec codec,
                  struct chunk_bytes *chunk);

void chunk_bytes_free(struct chunk_bytes *chunk);

/* encode.c: values to the bytes of pages. */

/* Appends which of the rows have a value, in front of the values of a page of version 1. */
void encode_levels(struct strbuf *out, const uint8_t *validity, size_t rows);

/* Appends levels of at most `most` in the same form. */
void encode_deep_levels(struct strbuf *out, const uint8_t *levels, size_t count, unsigned most);

/* Appends indices of a dictionary with `entries` entries. */
void encode_indices(struct strbuf *out, const uint32_t *indices, size_t count, size_t entries);

/* Appends values in ENCODING_PLAIN. */
void encode_bools(struct strbuf *out, const int64_t *values, size_t count);
void encode_int32(struct strbuf *out, const int64_t *values, size_t count);
void encode_int64(struct strbuf *out, const int64_t *values, size_t count);
void encode_big_endian(struct strbuf *out, const int64_t *values, size_t count, size_t width);
void encode_text(struct strbuf *out, struct text text);

#endif
