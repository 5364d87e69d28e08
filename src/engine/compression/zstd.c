/* zstd compression by libzstd. A file may consist of several frames. */
#include "engine/compression/compression.h"

#include "base/heap.h"

#include <stdlib.h>
#define ZSTD_STATIC_LINKING_ONLY /* memory of the caller's */
#include <zstd.h>

enum { STEP = 1 << 20, LEVEL = 3 };

struct zstd_unpacker {
    struct unpacker base;
    ZSTD_DStream *stream;
    size_t wanted; /* 0: at the end of a frame */
    bool full;     /* libzstd may hold output although all input is consumed */
};

static void close_zstd(struct unpacker *unpacker)
{
    ZSTD_freeDStream(((struct zstd_unpacker *)unpacker)->stream);
    free(unpacker);
}

static struct unpacker *open_zstd(const void *data, size_t length)
{
    struct zstd_unpacker *unpacker = heap_array(1, sizeof *unpacker);
    unpacker->base = (struct unpacker){.data = data, .length = length};
    unpacker->wanted = 1;
    unpacker->stream = ZSTD_createDStream();
    if (unpacker->stream)
        return &unpacker->base;
    close_zstd(&unpacker->base);
    return NULL;
}

static enum decompress_result next_zstd(struct unpacker *base, char *to, size_t room, size_t *written)
{
    struct zstd_unpacker *unpacker = (struct zstd_unpacker *)base;
    ZSTD_outBuffer out = {to, room, 0};
    ZSTD_inBuffer in = {base->data, base->length, base->at};
    while (out.pos < out.size && (in.pos < in.size || unpacker->full)) {
        unpacker->wanted = ZSTD_decompressStream(unpacker->stream, &out, &in);
        if (ZSTD_isError(unpacker->wanted))
            return DECOMPRESS_CORRUPT;
        unpacker->full = out.pos == out.size && unpacker->wanted != 0;
    }
    base->at = in.pos;
    *written = out.pos;
    if (in.pos < in.size || unpacker->full)
        return DECOMPRESS_MORE;
    return unpacker->wanted == 0 ? DECOMPRESS_OK : DECOMPRESS_TRUNCATED;
}

struct compressor {
    ZSTD_CStream *stream;
    unsigned char out[STEP];
};

/* libzstd with threads does not survive that there is none. */
static void *take_memory(void *context, size_t size)
{
    void *memory;
    (void)context;
    do
        memory = malloc(size);
    while (!memory && heap_spend_reserve());
    return memory;
}

static void give_memory(void *context, void *memory)
{
    (void)context;
    free(memory);
}

static struct compressor *begin_zstd(int threads)
{
    struct compressor *compressor = heap_array(1, sizeof *compressor);
    compressor->stream = ZSTD_createCStream_advanced((ZSTD_customMem){take_memory, give_memory, NULL});
    if (!compressor->stream) {
        free(compressor);
        return NULL;
    }
    ZSTD_CCtx_setParameter(compressor->stream, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(compressor->stream, ZSTD_c_checksumFlag, 1);
    /* A library without threads rejects this and still works. */
    ZSTD_CCtx_setParameter(compressor->stream, ZSTD_c_nbWorkers, threads > 1 ? threads : 0);
    return compressor;
}

static bool add_zstd(struct compressor *compressor, const void *data, size_t size, bool last, compress_sink *sink,
                     void *context)
{
    ZSTD_inBuffer in = {data, size, 0};
    bool more = true;
    while (more) {
        ZSTD_outBuffer out = {compressor->out, STEP, 0};
        const size_t left = ZSTD_compressStream2(compressor->stream, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left) || !sink(context, compressor->out, out.pos))
            return false;
        more = last ? left > 0 : in.pos < in.size;
    }
    return true;
}

static void end_zstd(struct compressor *compressor)
{
    ZSTD_freeCStream(compressor->stream);
    free(compressor);
}

const struct compression compression_zstd = {.extension = ".zst",
                                             .name = "zstd",
                                             .magic = "\x28\xb5\x2f\xfd",
                                             .summary = "after another extension (.csv.zst): compressed with zstd",
                                             .open = open_zstd,
                                             .next = next_zstd,
                                             .close = close_zstd,
                                             .begin = begin_zstd,
                                             .add = add_zstd,
                                             .end = end_zstd};
