/* The byte arrays of a page, one after another. */
#ifndef RQL_ENGINE_PARQUET_BYTE_ARRAYS_H
#define RQL_ENGINE_PARQUET_BYTE_ARRAYS_H

#include "engine/parquet/footer.h"
#include "engine/parquet/read_error.h"
#include "engine/parquet/scratch.h"

struct byte_arrays {
    const uint8_t *at, *end;
    int64_t encoding;
    size_t width; /* of ENCODING_PLAIN: of each, 0: each begins with its length */
    struct scratch *scratch;
    const uint32_t *lengths, *prefixes; /* of those still to come */
    size_t previous;                    /* the length of the last one, which is in scratch->text */
    size_t total;                       /* of ENCODING_DELTA_BYTE_ARRAY: bytes so far */
};

/* Prepares to read `count` byte arrays in bytes at..end-1. */
enum read_error byte_arrays_open(struct byte_arrays *in, int64_t encoding, size_t width, size_t count,
                                 const uint8_t *at, const uint8_t *end, struct scratch *scratch);

/* The next one, valid until the next call. At most `count` times. */
enum read_error byte_arrays_next(struct byte_arrays *in, struct text *text);

#endif
