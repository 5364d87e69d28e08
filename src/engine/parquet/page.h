/* Opening a page: its checksum, decompression, and which of its values are missing. */
#ifndef RQL_ENGINE_PARQUET_PAGE_H
#define RQL_ENGINE_PARQUET_PAGE_H

#include "engine/parquet/page_header.h"
#include "engine/parquet/read_error.h"
#include "engine/parquet/scratch.h"

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
