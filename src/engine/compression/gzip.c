/* gzip compression by zlib. A file may consist of several members. */
#include "engine/compression/compression.h"

#include "base/heap.h"

#include <stdlib.h>
#include <zlib.h>

enum {
    STEP = 1 << 20,        /* bytes at once */
    GZIP_WINDOW = 15 + 16, /* the largest window, with a gzip header */
    LEVEL = 4              /* twice as fast as gzip's default, at most a tenth larger */
};

struct gzip_unpacker {
    struct unpacker base;
    z_stream stream;
    bool ended; /* at the end of a member */
    bool full;  /* zlib may hold output although all input is consumed */
};

static struct unpacker *open_gzip(const void *data, size_t length)
{
    struct gzip_unpacker *unpacker = heap_array(1, sizeof *unpacker);
    unpacker->base = (struct unpacker){.data = data, .length = length};
    if (inflateInit2(&unpacker->stream, GZIP_WINDOW) == Z_OK)
        return &unpacker->base;
    free(unpacker);
    return NULL;
}

static void close_gzip(struct unpacker *unpacker)
{
    inflateEnd(&((struct gzip_unpacker *)unpacker)->stream);
    free(unpacker);
}

static enum decompress_result next_gzip(struct unpacker *base, char *to, size_t room, size_t *written)
{
    struct gzip_unpacker *unpacker = (struct gzip_unpacker *)base;
    z_stream *stream = &unpacker->stream;
    *written = 0;
    while (*written < room && (base->at < base->length || unpacker->full)) {
        if (unpacker->ended && inflateReset(stream) != Z_OK)
            return DECOMPRESS_CORRUPT;
        const uInt given = base->length - base->at < STEP ? (uInt)(base->length - base->at) : STEP;
        const uInt wanted = room - *written < STEP ? (uInt)(room - *written) : STEP;
        stream->next_in = (z_const Bytef *)base->data + base->at;
        stream->avail_in = given;
        stream->next_out = (Bytef *)to + *written;
        stream->avail_out = wanted;
        const int code = inflate(stream, Z_NO_FLUSH);
        const bool idle = code == Z_BUF_ERROR && given == 0; /* it held none */
        if (code != Z_OK && code != Z_STREAM_END && !idle)
            return DECOMPRESS_CORRUPT;
        unpacker->ended = code == Z_STREAM_END;
        unpacker->full = !unpacker->ended && !idle && stream->avail_out == 0;
        base->at += given - stream->avail_in;
        *written += wanted - stream->avail_out;
    }
    if (base->at < base->length || unpacker->full)
        return DECOMPRESS_MORE;
    return unpacker->ended ? DECOMPRESS_OK : DECOMPRESS_TRUNCATED;
}

struct compressor {
    z_stream stream;
    unsigned char out[STEP];
};

static struct compressor *begin_gzip(int threads)
{
    (void)threads;
    struct compressor *compressor = heap_array(1, sizeof *compressor);
    if (deflateInit2(&compressor->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) == Z_OK)
        return compressor;
    free(compressor);
    return NULL;
}

static bool add_gzip(struct compressor *compressor, const void *data, size_t size, bool last, compress_sink *sink,
                     void *context)
{
    z_stream *stream = &compressor->stream;
    const unsigned char *at = data;
    bool more = true;
    while (more) {
        uInt given = size < STEP ? (uInt)size : STEP;
        stream->next_in = (z_const Bytef *)at;
        stream->avail_in = given;
        stream->next_out = compressor->out;
        stream->avail_out = STEP;
        const int code = deflate(stream, last && given == size ? Z_FINISH : Z_NO_FLUSH);
        if (code == Z_STREAM_ERROR || !sink(context, compressor->out, STEP - stream->avail_out))
            return false;
        at += given - stream->avail_in;
        size -= given - stream->avail_in;
        more = size > 0 || stream->avail_out == 0 || (last && code != Z_STREAM_END);
    }
    return true;
}

static void end_gzip(struct compressor *compressor)
{
    deflateEnd(&compressor->stream);
    free(compressor);
}

const struct compression compression_gzip = {.extension = ".gz",
                                             .name = "gzip",
                                             .magic = "\x1f\x8b",
                                             .summary = "after another extension (.csv.gz): compressed with gzip",
                                             .open = open_gzip,
                                             .next = next_gzip,
                                             .close = close_gzip,
                                             .begin = begin_gzip,
                                             .add = add_gzip,
                                             .end = end_gzip};
