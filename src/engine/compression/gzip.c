/* gzip compression by zlib. A file may consist of several members. */
#include "engine/compression/compression.h"
#include "engine/storage/growing_buffer.h"

#include "base/heap.h"

#include <stdlib.h>
#include <zlib.h>

enum {
    STEP = 1 << 20,        /* bytes between cancellation checks */
    GZIP_WINDOW = 15 + 16, /* the largest window, with a gzip header */
    LEVEL = 4              /* twice as fast as gzip's default, at most a tenth larger */
};

static enum decompress_result decompress_gzip(const void *data, size_t length, struct growing_buffer *buffer,
                                              const struct workers *workers)
{
    z_stream stream = {0};
    if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
        return DECOMPRESS_NO_MEMORY;
    const unsigned char *at = data;
    size_t remaining = length;
    enum decompress_result result = DECOMPRESS_TRUNCATED;
    bool ended = false; /* at the end of a member */
    while (remaining > 0 && result == DECOMPRESS_TRUNCATED) {
        if (workers_cancelled(workers)) {
            result = DECOMPRESS_CANCELLED;
        } else if (ended && inflateReset(&stream) != Z_OK) {
            result = DECOMPRESS_CORRUPT;
        } else if (!growing_buffer_reserve(buffer, STEP)) {
            result = DECOMPRESS_NO_MEMORY;
        } else {
            uInt given = remaining < STEP ? (uInt)remaining : STEP;
            stream.next_in = (z_const Bytef *)at;
            stream.avail_in = given;
            stream.next_out = (Bytef *)buffer->data + buffer->used;
            stream.avail_out = STEP;
            const int code = inflate(&stream, Z_NO_FLUSH);
            ended = code == Z_STREAM_END;
            if (code != Z_OK && code != Z_STREAM_END)
                result = DECOMPRESS_CORRUPT;
            at += given - stream.avail_in;
            remaining -= given - stream.avail_in;
            buffer->used += STEP - stream.avail_out;
            decompress_report(workers, length - remaining, length);
        }
    }
    /* All input is consumed, but zlib may still hold output. */
    while (result == DECOMPRESS_TRUNCATED && !ended && growing_buffer_reserve(buffer, STEP)) {
        stream.next_out = (Bytef *)buffer->data + buffer->used;
        stream.avail_out = STEP;
        ended = inflate(&stream, Z_NO_FLUSH) == Z_STREAM_END;
        buffer->used += STEP - stream.avail_out;
        if (stream.avail_out == STEP)
            break;
    }
    inflateEnd(&stream);
    return result == DECOMPRESS_TRUNCATED && ended ? DECOMPRESS_OK : result;
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
                                             .decompress = decompress_gzip,
                                             .begin = begin_gzip,
                                             .add = add_gzip,
                                             .end = end_gzip};
