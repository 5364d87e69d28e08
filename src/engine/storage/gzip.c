/* Packing by zlib, as gzip does. A file may be several packed ones, one after another. */
#include "engine/storage/compression.h"
#include "engine/storage/growing_buffer.h"

#include "base/heap.h"

#include <stdlib.h>
#include <zlib.h>

enum {
    STEP = 1 << 20,        /* bytes between two looks at the interrupt */
    GZIP_WINDOW = 15 + 16, /* the usual window, with gzip's header */
    LEVEL = 4              /* twice as fast as gzip's own choice, and a tenth larger at most */
};

static enum decompressed unpack_gzip(const void *data, size_t length, struct growing_buffer *room,
                                     const struct workers *workers)
{
    z_stream stream = {0};
    if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
        return UNPACKED_TOO_LARGE;
    const unsigned char *at = data;
    size_t left = length;
    enum decompressed outcome = UNPACKED_CUT_SHORT;
    bool ended = false; /* between two packed files */
    while (left > 0 && outcome == UNPACKED_CUT_SHORT) {
        if (workers_cancelled(workers)) {
            outcome = UNPACKED_CANCELLED;
        } else if (ended && inflateReset(&stream) != Z_OK) {
            outcome = UNPACKED_DAMAGED;
        } else if (!growing_buffer_reserve(room, STEP)) {
            outcome = UNPACKED_TOO_LARGE;
        } else {
            uInt given = left < STEP ? (uInt)left : STEP;
            stream.next_in = (z_const Bytef *)at;
            stream.avail_in = given;
            stream.next_out = (Bytef *)room->data + room->used;
            stream.avail_out = STEP;
            int code = inflate(&stream, Z_NO_FLUSH);
            ended = code == Z_STREAM_END;
            if (code != Z_OK && code != Z_STREAM_END)
                outcome = UNPACKED_DAMAGED;
            at += given - stream.avail_in;
            left -= given - stream.avail_in;
            room->used += STEP - stream.avail_out;
            decompression_report(workers, length - left, length);
        }
    }
    /* What is packed may be longer than the packed: the last step can leave some of it inside. */
    while (outcome == UNPACKED_CUT_SHORT && !ended && growing_buffer_reserve(room, STEP)) {
        stream.next_out = (Bytef *)room->data + room->used;
        stream.avail_out = STEP;
        ended = inflate(&stream, Z_NO_FLUSH) == Z_STREAM_END;
        room->used += STEP - stream.avail_out;
        if (stream.avail_out == STEP)
            break;
    }
    inflateEnd(&stream);
    return outcome == UNPACKED_CUT_SHORT && ended ? UNPACKED : outcome;
}

struct packer {
    z_stream stream;
    unsigned char out[STEP];
};

static struct packer *begin_gzip(int threads)
{
    (void)threads;
    struct packer *packer = heap_array(1, sizeof *packer);
    if (deflateInit2(&packer->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) == Z_OK)
        return packer;
    free(packer);
    return NULL;
}

static bool add_gzip(struct packer *packer, const void *data, size_t size, bool last, pack_sink *sink, void *context)
{
    z_stream *stream = &packer->stream;
    const unsigned char *at = data;
    bool more = true;
    while (more) {
        uInt given = size < STEP ? (uInt)size : STEP;
        stream->next_in = (z_const Bytef *)at;
        stream->avail_in = given;
        stream->next_out = packer->out;
        stream->avail_out = STEP;
        int code = deflate(stream, last && given == size ? Z_FINISH : Z_NO_FLUSH);
        if (code == Z_STREAM_ERROR || !sink(context, packer->out, STEP - stream->avail_out))
            return false;
        at += given - stream->avail_in;
        size -= given - stream->avail_in;
        more = size > 0 || stream->avail_out == 0 || (last && code != Z_STREAM_END);
    }
    return true;
}

static void end_gzip(struct packer *packer)
{
    deflateEnd(&packer->stream);
    free(packer);
}

const struct compression packing_gzip = {.ending = ".gz",
                                         .name = "gzip",
                                         .magic = "\x1f\x8b",
                                         .summary = "behind another ending (.csv.gz): packed as by gzip",
                                         .unpack = unpack_gzip,
                                         .begin = begin_gzip,
                                         .add = add_gzip,
                                         .end = end_gzip};
