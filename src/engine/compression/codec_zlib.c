/* Blocks in the gzip format, by zlib; zlib's own format is read too. */
#include "engine/compression/block_codec.h"

#include <limits.h>
#include <zlib.h>

enum {
    WINDOW = 15, /* the largest */
    GZIP = 16,   /* added: a gzip header */
    EITHER = 32, /* added: a gzip or zlib header */
    LEVEL = 4
};

static uInt clip(size_t size)
{
    return size < UINT_MAX ? (uInt)size : UINT_MAX;
}

static bool decompress(const void *block, size_t size, void *to, size_t length)
{
    z_stream stream = {.next_in = (z_const Bytef *)block, .next_out = to};
    if (inflateInit2(&stream, WINDOW + EITHER) != Z_OK)
        return false;
    int code = Z_OK;
    size_t in = 0, out = 0;
    /* A member of the format ends in Z_STREAM_END; another one may follow. zlib reports lack of progress. */
    while (code == Z_OK || (code == Z_STREAM_END && out < length && inflateReset(&stream) == Z_OK)) {
        stream.avail_in = clip(size - in);
        stream.avail_out = clip(length - out);
        uInt given = stream.avail_in, room = stream.avail_out;
        code = inflate(&stream, Z_NO_FLUSH);
        in += given - stream.avail_in;
        out += room - stream.avail_out;
    }
    inflateEnd(&stream);
    return code == Z_STREAM_END && out == length;
}

static size_t bound(size_t length)
{
    return compressBound(length) + 32; /* gzip's header and end are longer than zlib's */
}

static size_t compress_gzip(const void *data, size_t length, void *to, size_t capacity)
{
    z_stream stream = {.next_in = (z_const Bytef *)data, .next_out = to};
    if (length > UINT_MAX || deflateInit2(&stream, LEVEL, Z_DEFLATED, WINDOW + GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return 0;
    stream.avail_in = (uInt)length;
    stream.avail_out = clip(capacity);
    const int code = deflate(&stream, Z_FINISH);
    const size_t size = stream.total_out;
    deflateEnd(&stream);
    return code == Z_STREAM_END ? size : 0;
}

const struct block_functions block_functions_gzip = {
    .decompress = decompress, .bound = bound, .compress = compress_gzip};
