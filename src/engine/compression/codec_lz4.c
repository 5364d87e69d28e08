/* Blocks compressed by LZ4, bare or in its frame format. */
#include "engine/compression/block_codec.h"

#include <lz4.h>
#include <lz4frame.h>

static bool decompress(const void *block, size_t size, void *to, size_t length)
{
    if (size > LZ4_MAX_INPUT_SIZE || length > LZ4_MAX_INPUT_SIZE)
        return false;
    return LZ4_decompress_safe(block, to, (int)size, (int)length) == (int)length;
}

static size_t bound(size_t length)
{
    return length > LZ4_MAX_INPUT_SIZE ? 0 : (size_t)LZ4_compressBound((int)length);
}

static size_t compress(const void *data, size_t length, void *to, size_t capacity)
{
    if (length > LZ4_MAX_INPUT_SIZE || capacity > LZ4_MAX_INPUT_SIZE)
        return 0;
    return (size_t)LZ4_compress_default(data, to, (int)length, (int)capacity);
}

static bool decompress_frame(const void *block, size_t size, void *to, size_t length)
{
    LZ4F_dctx *context;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)))
        return false;
    size_t in = 0, out = 0, wanted = 1; /* 0: the frame is complete */
    bool progress = true;
    while (wanted != 0 && progress) {
        size_t given = size - in, room = length - out;
        wanted = LZ4F_decompress(context, (char *)to + out, &room, (const char *)block + in, &given, NULL);
        progress = !LZ4F_isError(wanted) && (given > 0 || room > 0);
        in += progress ? given : 0;
        out += progress ? room : 0;
    }
    LZ4F_freeDecompressionContext(context);
    return wanted == 0 && out == length;
}

static size_t bound_frame(size_t length)
{
    return LZ4F_compressFrameBound(length, NULL);
}

static size_t compress_frame(const void *data, size_t length, void *to, size_t capacity)
{
    const size_t size = LZ4F_compressFrame(to, capacity, data, length, NULL);
    return LZ4F_isError(size) ? 0 : size;
}

const struct block_functions block_functions_lz4 = {.decompress = decompress, .bound = bound, .compress = compress};
const struct block_functions block_functions_lz4_frame = {
    .decompress = decompress_frame, .bound = bound_frame, .compress = compress_frame};
