/* What can be wrong with a page. Threads record it; the reader reports the first in the order of the file. */
#ifndef RQL_ENGINE_PARQUET_READ_ERROR_H
#define RQL_ENGINE_PARQUET_READ_ERROR_H

enum read_error {
    READ_OK,
    READ_NO_MEMORY,
    READ_NO_LIBRARY, /* for the codec */
    READ_BAD_HEADER, /* of a page */
    READ_BAD_ROWS,   /* the pages of a chunk do not have its number of rows */
    READ_BAD_CHECKSUM,
    READ_BAD_BLOCK, /* cannot be decompressed */
    READ_BAD_LEVELS,
    READ_BAD_LISTS,    /* levels that do not fit each other */
    READ_BAD_VALUES,   /* malformed, or fewer than expected */
    READ_BAD_INDEX,    /* beyond the dictionary, or there is none */
    READ_BAD_ENCODING, /* unknown, or not one for such values */
    READ_NOT_UTF8,     /* a value */
    READ_NOT_IN_RANGE, /* a value that the column cannot hold */
    READ_ERROR_COUNT
};

#endif
