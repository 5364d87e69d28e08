/* Encoding the rows of one column in one row group. */
#ifndef RQL_ENGINE_PARQUET_WRITE_CHUNK_H
#define RQL_ENGINE_PARQUET_WRITE_CHUNK_H

#include "base/strbuf.h"
#include "engine/compression/block_codec.h"
#include "engine/parquet/footer.h"
#include "engine/parquet_write/write_levels.h"
#include "engine/storage/column.h"

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

#endif
