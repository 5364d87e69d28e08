/* The headers of pages. */
#ifndef RQL_ENGINE_PARQUET_PAGE_HEADER_H
#define RQL_ENGINE_PARQUET_PAGE_HEADER_H

#include "engine/parquet/footer.h"

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

#endif
