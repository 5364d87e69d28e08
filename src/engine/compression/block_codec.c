#include "engine/compression/block_codec.h"

#include <string.h>

static bool copy_block(const void *block, size_t size, void *to, size_t length)
{
    if (size != length)
        return false;
    memcpy(to, block, length);
    return true;
}

static size_t bound_of_copy(size_t length)
{
    return length;
}

static size_t compress_by_copy(const void *data, size_t length, void *to, size_t capacity)
{
    if (capacity < length)
        return 0;
    memcpy(to, data, length);
    return length;
}

static const struct block_functions copying = {
    .decompress = copy_block, .bound = bound_of_copy, .compress = compress_by_copy};

const struct block_functions block_functions_missing = {.decompress = NULL};

static const struct {
    const char *name, *package;
    const struct block_functions *functions;
} table[BLOCK_CODEC_COUNT] = {
    [BLOCK_NONE] = {"none", NULL, &copying},
    [BLOCK_SNAPPY] = {"snappy", NULL, &block_functions_snappy},
    [BLOCK_GZIP] = {"gzip", "zlib1g-dev", &block_functions_gzip},
    [BLOCK_ZSTD] = {"zstd", "libzstd-dev", &block_functions_zstd},
    [BLOCK_LZ4] = {"lz4", "liblz4-dev", &block_functions_lz4},
    [BLOCK_LZ4_FRAME] = {"lz4", "liblz4-dev", &block_functions_lz4_frame},
    [BLOCK_BROTLI] = {"brotli", "libbrotli-dev", &block_functions_brotli},
};

const char *block_codec_name(enum block_codec codec)
{
    return table[codec].name;
}

const char *block_codec_lacks(enum block_codec codec)
{
    return table[codec].functions->decompress ? NULL : table[codec].package;
}

bool block_decompress(struct block_decoder *decoder, enum block_codec codec, const void *block, size_t size, void *to,
                      size_t length)
{
    const struct block_functions *functions = table[codec].functions;
    if (length == 0)
        return true;
    return decoder && functions->decompress_next
               ? functions->decompress_next(&decoder->states[codec], block, size, to, length)
               : functions->decompress(block, size, to, length);
}

void block_decoder_release(struct block_decoder *decoder)
{
    for (size_t codec = 0; codec < BLOCK_CODEC_COUNT; codec++) {
        if (table[codec].functions->release)
            table[codec].functions->release(decoder->states[codec]);
    }
    *decoder = (struct block_decoder){0};
}

size_t block_bound(enum block_codec codec, size_t length)
{
    return table[codec].functions->bound(length);
}

size_t block_compress(enum block_codec codec, const void *data, size_t length, void *to, size_t capacity)
{
    return table[codec].functions->compress(data, length, to, capacity);
}
