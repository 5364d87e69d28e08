/* Pages: their headers (page_header.c), and opening one: its checksum, decompression, and which values are missing. */
#ifndef RQL_ENGINE_PARQUET_PAGE_H
#define RQL_ENGINE_PARQUET_PAGE_H

#include "engine/parquet/footer.h"
#include "engine/parquet/read_error.h"
#include "engine/parquet/scratch.h"

enum page_type { PAGE_DATA, PAGE_INDEX, PAGE_DICTIONARY, PAGE_DATA_V2 };

/* A page, whose lengths lie within the file. */
struct page_header {
    int64_t type;        /* enum page_type, or a newer one */
    const uint8_t *data; /* `size` bytes */
    int32_t size;        /* as stored */
    int32_t length;      /* uncompressed */
    int32_t values;      /* missing ones included */
    int64_t encoding;    /* enum encoding, or a newer one */
    int64_t level_encoding;
    int32_t level_bytes, repetition_bytes; /* PAGE_DATA_V2: the lengths of the levels, before the values */
    bool is_compressed;                    /* PAGE_DATA_V2: the values are */
    bool has_checksum;
    uint32_t checksum;
};

/* Reads the header at *at and moves *at behind the page. Returns false if it is malformed or exceeds `end`. */
bool page_header_read(const uint8_t **at, const uint8_t *end, struct page_header *page);

/* Opening a page. */

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

/* Opens a data page. Where values are missing, writes a byte for each row to `validity`, 1 where there is a value. */
enum read_error page_open_data(const struct page_header *page, int64_t codec, bool optional, struct scratch *scratch,
                               uint8_t *validity, struct page_values *values);

#endif
