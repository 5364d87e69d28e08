/* The footer of a Parquet file: its schema, and where the pages of each column are. The names and numbers are those of
 * parquet.thrift in the Apache Parquet format specification. */
#ifndef RQL_ENGINE_PARQUET_FOOTER_H
#define RQL_ENGINE_PARQUET_FOOTER_H

#include "base/arena.h"
#include "engine/values/dictionary.h"

/* How values are stored. */
enum physical {
    PHYSICAL_BOOLEAN,
    PHYSICAL_INT32,
    PHYSICAL_INT64,
    PHYSICAL_INT96,
    PHYSICAL_FLOAT,
    PHYSICAL_DOUBLE,
    PHYSICAL_BYTE_ARRAY,
    PHYSICAL_FIXED,
    PHYSICAL_COUNT
};

enum repetition { REPETITION_REQUIRED, REPETITION_OPTIONAL, REPETITION_REPEATED };

/* What values mean: the field numbers of the union LogicalType, into which the older ConvertedType is translated. */
enum annotation {
    ANNOTATION_NONE = 0,
    ANNOTATION_STRING = 1,
    ANNOTATION_MAP = 2,
    ANNOTATION_LIST = 3,
    ANNOTATION_ENUM = 4,
    ANNOTATION_DECIMAL = 5,
    ANNOTATION_DATE = 6,
    ANNOTATION_TIME = 7,
    ANNOTATION_TIMESTAMP = 8,
    ANNOTATION_INTERVAL = 9,
    ANNOTATION_INTEGER = 10,
    ANNOTATION_NULL = 11,
    ANNOTATION_JSON = 12,
    ANNOTATION_BSON = 13,
    ANNOTATION_UUID = 14,
    ANNOTATION_FLOAT16 = 15,
    ANNOTATION_VARIANT = 16,
    ANNOTATION_GEOMETRY = 17,
    ANNOTATION_GEOGRAPHY = 18,
    ANNOTATION_FILE = 19
};

enum time_unit { UNIT_MILLIS = 1, UNIT_MICROS = 2, UNIT_NANOS = 3 }; /* field numbers of TimeUnit */

enum encoding {
    ENCODING_PLAIN = 0,
    ENCODING_PLAIN_DICTIONARY = 2,
    ENCODING_RLE = 3,
    ENCODING_BIT_PACKED = 4,
    ENCODING_DELTA_BINARY_PACKED = 5,
    ENCODING_DELTA_LENGTH_BYTE_ARRAY = 6,
    ENCODING_DELTA_BYTE_ARRAY = 7,
    ENCODING_RLE_DICTIONARY = 8,
    ENCODING_BYTE_STREAM_SPLIT = 9,
    ENCODING_COUNT
};

enum page_codec {
    PAGE_CODEC_NONE = 0,
    PAGE_CODEC_SNAPPY = 1,
    PAGE_CODEC_GZIP = 2,
    PAGE_CODEC_LZO = 3,
    PAGE_CODEC_BROTLI = 4,
    PAGE_CODEC_HADOOP_LZ4 = 5,
    PAGE_CODEC_ZSTD = 6,
    PAGE_CODEC_LZ4 = 7
};

struct schema_element {
    struct text name;
    bool is_leaf;
    int physical;  /* enum physical, if is_leaf */
    int32_t width; /* bytes of a value of PHYSICAL_FIXED */
    int repetition;
    int32_t children;
    int64_t annotation; /* enum annotation, or a newer one */
    bool utc;           /* times: adjusted to UTC */
    int unit;           /* times: enum time_unit */
    int bits;           /* integers */
    bool is_unsigned;   /* integers */
    int32_t scale;      /* decimals */
};

/* What a writer says of the values of a chunk. */
struct chunk_statistics {
    bool has_least, has_most;
    struct text least, most; /* in ENCODING_PLAIN, text without its length; bounds, which are perhaps cut */
    int64_t missing;         /* how many values are; -1: unknown */
};

/* The pages of one column in one row group. */
struct chunk {
    int64_t values;            /* missing ones included */
    int64_t bytes;             /* of all pages; 0: it is not told */
    int64_t data, dictionary;  /* offsets of the first pages; dictionary 0: none is given */
    int64_t codec;             /* enum page_codec, or a newer one */
    uint32_t encodings;        /* bit k: enum encoding; bit 31: a newer one */
    bool elsewhere, encrypted; /* in another file */
    struct chunk_statistics statistics;
};

struct row_group {
    int64_t rows;
    struct chunk *chunks; /* one for each leaf of the schema, in its order */
    size_t count;
};

struct footer {
    struct schema_element *elements; /* depth first; the first is the root */
    size_t element_count;
    int64_t rows; /* of all groups: some writers say 0 for the file */
    struct row_group *groups;
    size_t group_count;
    struct text durations; /* the value of the pair duration_key, empty if there is none */
    struct text pandas;    /* that of pandas_key (engine/storage/pandas_index.h) */
    struct text schema;    /* that of stored_schema_key (engine/arrow/stored_schema.h) */
    bool encrypted;
};

/* Parses a footer, whose texts stay where they are. Returns NULL, or what is wrong with it. */
const char *footer_parse(const uint8_t *bytes, size_t length, struct arena *arena, struct footer *footer);

/* Parquet has times of day but no durations. Other durations are 64-bit integers, and a pair of the file's metadata,
 * with this key, lists the leaves that are microseconds: "0,3,". */

static const char duration_key[] = "rql.durations";

#endif
