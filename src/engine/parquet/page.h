/* Opening a page: its checksum, decompression, and its levels. */
#ifndef RQL_ENGINE_PARQUET_PAGE_H
#define RQL_ENGINE_PARQUET_PAGE_H

#include "engine/parquet/levels.h"
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

/* Opens a data page, and writes its levels. */
enum read_error page_open_data(const struct page_header *page, int64_t codec, const struct page_levels *levels,
                               struct scratch *scratch, struct page_values *values);

#endif
