/* zstd compression by libzstd. A file may consist of several frames. */
#include "engine/compression/compression.h"
#include "engine/storage/growing_buffer.h"

#include "base/heap.h"

#include <stdlib.h>
#define ZSTD_STATIC_LINKING_ONLY /* memory of the caller's */
#include <zstd.h>

enum { STEP = 1 << 20, LEVEL = 3 };

static enum decompress_result decompress_zstd(const void *data, size_t length, struct growing_buffer *buffer,
                                              const struct workers *workers)
{
    ZSTD_DStream *stream = ZSTD_createDStream();
    if (!stream)
        return DECOMPRESS_NO_MEMORY;
    ZSTD_inBuffer in = {data, length, 0};
    enum decompress_result result = DECOMPRESS_TRUNCATED;
    size_t wanted = 1; /* 0: at the end of a frame */
    bool full = false; /* libzstd may hold output although all input is consumed */
    while ((in.pos < in.size || full) && result == DECOMPRESS_TRUNCATED) {
        if (workers_cancelled(workers)) {
            result = DECOMPRESS_CANCELLED;
        } else if (!growing_buffer_reserve(buffer, STEP)) {
            result = DECOMPRESS_NO_MEMORY;
        } else {
            ZSTD_outBuffer out = {buffer->data + buffer->used, STEP, 0};
            wanted = ZSTD_decompressStream(stream, &out, &in);
            if (ZSTD_isError(wanted))
                result = DECOMPRESS_CORRUPT;
            buffer->used += out.pos;
            full = out.pos == out.size && wanted != 0;
            decompress_report(workers, in.pos, in.size);
        }
    }
    ZSTD_freeDStream(stream);
    return result == DECOMPRESS_TRUNCATED && wanted == 0 ? DECOMPRESS_OK : result;
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
                                             .decompress = decompress_zstd,
                                             .begin = begin_zstd,
                                             .add = add_zstd,
                                             .end = end_zstd};
