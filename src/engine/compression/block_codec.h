/* Compression of single blocks of known size, as in Parquet pages and Arrow buffers. */
#ifndef RQL_ENGINE_COMPRESSION_BLOCK_CODEC_H
#define RQL_ENGINE_COMPRESSION_BLOCK_CODEC_H

#include <stdbool.h>
#include <stddef.h>

enum block_codec {
    BLOCK_NONE,
    BLOCK_SNAPPY,
    BLOCK_GZIP, /* or zlib; several members are one block */
    BLOCK_ZSTD,
    BLOCK_LZ4,       /* a single block without framing */
    BLOCK_LZ4_FRAME, /* with the header and end of an LZ4 file */
    BLOCK_BROTLI,
    BLOCK_CODEC_COUNT
};

/* What one library does for one codec; defined in codec_*.c. Safe for any input and for several threads. `bound` and
 * `compress` are NULL if rql does not write the codec. */
struct block_functions {
    /* Decompresses a block that has exactly `length` > 0 bytes. Returns false if it has another length or is corrupt.
     */
    bool (*decompress)(const void *block, size_t size, void *to, size_t length);

    /* The largest size of a block of `length` bytes. */
    size_t (*bound)(size_t length);

    /* Compresses `length` bytes to `to`, which has room for their bound. Returns the size; 0: no memory. */
    size_t (*compress)(const void *data, size_t length, void *to, size_t capacity);

    /* For codecs whose state is expensive to set up: decompresses with a state, at first NULL, that is kept for the
     * next block. Both are NULL for other codecs. */
    bool (*decompress_next)(void **state, const void *block, size_t size, void *to, size_t length);
    void (*release)(void *state); /* NULL is allowed */
};

/* What one thread keeps from block to block. Initialise with zeroes. */
struct block_decoder {
    void *states[BLOCK_CODEC_COUNT];
};

/* Frees what the decoder keeps and leaves it as it was initialised. */
void block_decoder_release(struct block_decoder *decoder);

/* The codec's name: "snappy". */
const char *block_codec_name(enum block_codec codec);

/* The Debian package of the library that this build lacks for the codec, or NULL if it can be used. */
const char *block_codec_lacks(enum block_codec codec);

/* Decompresses a block of `size` bytes to the `length` bytes at `to`, by a codec that can be used. False if it is
 * corrupt or its content has another length; of length 0 any block will do. `decoder` may be NULL. */
bool block_decompress(struct block_decoder *decoder, enum block_codec codec, const void *block, size_t size, void *to,
                      size_t length);

/* The largest size of a block of `length` bytes. */
size_t block_bound(enum block_codec codec, size_t length);

/* Compresses `length` bytes to `to`, of which `capacity` is at least their bound. Returns the size; 0: no memory. */
size_t block_compress(enum block_codec codec, const void *data, size_t length, void *to, size_t capacity);

/* Without a library the Makefile leaves its file out and renames its functions to block_functions_missing. */
extern const struct block_functions block_functions_missing, block_functions_snappy, block_functions_gzip,
    block_functions_zstd, block_functions_lz4, block_functions_lz4_frame, block_functions_brotli;

#endif
