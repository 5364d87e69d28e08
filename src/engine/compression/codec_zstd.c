/* Blocks compressed by zstd. */
#include "engine/compression/block_codec.h"

#include <zstd.h>

enum { LEVEL = 1 };

static bool decompress(const void *block, size_t size, void *to, size_t length)
{
    return ZSTD_decompress(to, length, block, size) == length;
}

/* A context takes 160 KB, which the C library maps and unmaps: twenty times as long as copying a page of 25 KB. */
static bool decompress_next(void **state, const void *block, size_t size, void *to, size_t length)
{
    if (!*state)
        *state = ZSTD_createDCtx();
    return *state && ZSTD_decompressDCtx(*state, to, length, block, size) == length;
}

static void release(void *state)
{
    ZSTD_freeDCtx(state);
}

static size_t compress(const void *data, size_t length, void *to, size_t capacity)
{
    const size_t size = ZSTD_compress(to, capacity, data, length, LEVEL);
    return ZSTD_isError(size) ? 0 : size;
}

const struct block_functions block_functions_zstd = {.decompress = decompress,
                                                     .bound = ZSTD_compressBound,
                                                     .compress = compress,
                                                     .decompress_next = decompress_next,
                                                     .release = release};
