/* Opening a page: its checksum, decompression, and its levels. */
#ifndef RQL_ENGINE_PARQUET_PAGE_H
#define RQL_ENGINE_PARQUET_PAGE_H

#include "engine/parquet/footer.h"
#include "engine/parquet/read_error.h"
#include "engine/parquet/scratch.h"

/* page_header.c: the headers of pages. */

enum page_type { PAGE_DATA, PAGE_INDEX, PAGE_DICTIONARY, PAGE_DATA_V2 };

/* A page, whose lengths lie within the file. */
struct page_header {
    int64_t type;        /* enum page_type, or a newer one */
    const uint8_t *data; /* `size` bytes */
    int32_t size;        /* as stored */
    int32_t length;      /* uncompressed */
    int32_t values;      /* missing ones included */
    int64_t encoding;    /* enum encoding, or a newer one */
    int64_t level_encoding, repetition_encoding;
    int32_t level_bytes, repetition_bytes; /* PAGE_DATA_V2: the lengths of the levels, before the values */
    bool is_compressed;                    /* PAGE_DATA_V2: the values are */
    bool has_checksum;
    uint32_t checksum;
};

/* Reads the header at *at and moves *at behind the page. Returns false if it is malformed or exceeds `end`. */
bool page_header_read(const uint8_t **at, const uint8_t *end, struct page_header *page);

/* levels.c: the levels in front of a page's values: which of these are missing, and where lists begin. A value is there
 * if its definition level is the highest; lower ones say how much of the path to it is. A repetition level is the depth
 * of the list that goes on with this value, 0 where a row begins. */

/* What a column has in front of its values, and where it goes: a byte for each value, missing ones included. */
struct page_levels {
    unsigned definition, repetition;    /* the highest ones */
    uint8_t *validity;                  /* 1 where there is a value; not written if there are all */
    uint8_t *definitions, *repetitions; /* if there are repetition levels */
};

/* Reads the levels of a page of version 1 from *at, and moves that behind them; counts the values that are there. False
 * if they are malformed. */
bool levels_take(const struct page_header *page, const struct page_levels *levels, const uint8_t **at,
                 const uint8_t *end, size_t *present);

/* Those of PAGE_DATA_V2, whose lengths lie within the page. */
bool levels_take_v2(const struct page_header *page, const struct page_levels *levels, size_t *present);

/* The values of an opened page, in the file or in scratch->page. */
struct page_values {
    const uint8_t *at, *end;
    size_t present; /* not missing */
};

/* The Debian package that this build lacks for the codec, or NULL; also for codecs that are unknown. */
const char *page_codec_lacks(int64_t codec);
bool page_codec_known(int64_t codec);
const char *page_codec_name(int64_t codec);

/* Opens a dictionary page. */
enum read_error page_open_dictionary(const struct page_header *page, int64_t codec, struct scratch *scratch,
                                     struct page_values *values);

/* Opens a data page, and writes its levels. */
enum read_error page_open_data(const struct page_header *page, int64_t codec, const struct page_levels *levels,
                               struct scratch *scratch, struct page_values *values);

#endif
