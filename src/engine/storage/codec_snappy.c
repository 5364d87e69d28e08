/* Blocks compressed by Snappy. */
#include "engine/storage/block_codec.h"

#include <snappy-c.h>

static bool decompress(const void *block, size_t size, void *to, size_t length)
{
    size_t promised;
    if (snappy_uncompressed_length(block, size, &promised) != SNAPPY_OK || promised != length)
        return false;
    return snappy_uncompress(block, size, to, &promised) == SNAPPY_OK && promised == length;
}

static size_t compress(const void *data, size_t length, void *to, size_t capacity)
{
    return snappy_compress(data, length, to, &capacity) == SNAPPY_OK ? capacity : 0;
}

const struct block_functions block_functions_snappy = {decompress, snappy_max_compressed_length, compress};
