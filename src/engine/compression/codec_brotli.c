/* Blocks compressed by Brotli. */
#include "engine/compression/block_codec.h"

#include <brotli/decode.h>
#include <brotli/encode.h>

enum { QUALITY = 4 };

static bool decompress(const void *block, size_t size, void *to, size_t length)
{
    size_t written = length;
    return BrotliDecoderDecompress(size, block, &written, to) == BROTLI_DECODER_RESULT_SUCCESS && written == length;
}

static size_t compress(const void *data, size_t length, void *to, size_t capacity)
{
    size_t size = capacity;
    return BrotliEncoderCompress(QUALITY, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_GENERIC, length, data, &size, to) ? size
                                                                                                               : 0;
}

const struct block_functions block_functions_brotli = {
    .decompress = decompress, .bound = BrotliEncoderMaxCompressedSize, .compress = compress};
