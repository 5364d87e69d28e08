/* Blocks compressed by zstd. */
#include "engine/storage/block_codec.h"

#include <zstd.h>

enum { LEVEL = 1 };

static bool decompress(const void *block, size_t size, void *to, size_t length)
{
    return ZSTD_decompress(to, length, block, size) == length;
}

static size_t compress(const void *data, size_t length, void *to, size_t capacity)
{
    size_t size = ZSTD_compress(to, capacity, data, length, LEVEL);
    return ZSTD_isError(size) ? 0 : size;
}

const struct block_functions block_functions_zstd = {decompress, ZSTD_compressBound, compress};
