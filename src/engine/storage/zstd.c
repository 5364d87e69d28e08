/* Packing by libzstd. A file may be several frames. */
#include "engine/storage/compression.h"
#include "engine/storage/growing_buffer.h"

#include "base/heap.h"

#include <stdlib.h>
#include <zstd.h>

enum { STEP = 1 << 20, LEVEL = 3 };

static enum decompressed unpack_zstd(const void *data, size_t length, struct growing_buffer *room,
                                     const struct workers *workers)
{
    ZSTD_DStream *stream = ZSTD_createDStream();
    if (!stream)
        return UNPACKED_TOO_LARGE;
    ZSTD_inBuffer in = {data, length, 0};
    enum decompressed outcome = UNPACKED_CUT_SHORT;
    size_t wanted = 1; /* 0: a frame has ended */
    bool full = false; /* there may be more to come out although nothing goes in */
    while ((in.pos < in.size || full) && outcome == UNPACKED_CUT_SHORT) {
        if (workers_cancelled(workers)) {
            outcome = UNPACKED_CANCELLED;
        } else if (!growing_buffer_reserve(room, STEP)) {
            outcome = UNPACKED_TOO_LARGE;
        } else {
            ZSTD_outBuffer out = {room->data + room->used, STEP, 0};
            wanted = ZSTD_decompressStream(stream, &out, &in);
            if (ZSTD_isError(wanted))
                outcome = UNPACKED_DAMAGED;
            room->used += out.pos;
            full = out.pos == out.size && wanted != 0;
            decompression_report(workers, in.pos, in.size);
        }
    }
    ZSTD_freeDStream(stream);
    return outcome == UNPACKED_CUT_SHORT && wanted == 0 ? UNPACKED : outcome;
}

struct packer {
    ZSTD_CStream *stream;
    unsigned char out[STEP];
};

static struct packer *begin_zstd(int threads)
{
    struct packer *packer = heap_array(1, sizeof *packer);
    packer->stream = ZSTD_createCStream();
    if (!packer->stream) {
        free(packer);
        return NULL;
    }
    ZSTD_CCtx_setParameter(packer->stream, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(packer->stream, ZSTD_c_checksumFlag, 1);
    /* A library without threads refuses, and packs all the same. */
    ZSTD_CCtx_setParameter(packer->stream, ZSTD_c_nbWorkers, threads > 1 ? threads : 0);
    return packer;
}

static bool add_zstd(struct packer *packer, const void *data, size_t size, bool last, pack_sink *sink, void *context)
{
    ZSTD_inBuffer in = {data, size, 0};
    bool more = true;
    while (more) {
        ZSTD_outBuffer out = {packer->out, STEP, 0};
        size_t left = ZSTD_compressStream2(packer->stream, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left) || !sink(context, packer->out, out.pos))
            return false;
        more = last ? left > 0 : in.pos < in.size;
    }
    return true;
}

static void end_zstd(struct packer *packer)
{
    ZSTD_freeCStream(packer->stream);
    free(packer);
}

const struct compression packing_zstd = {.ending = ".zst",
                                         .name = "zstd",
                                         .magic = "\x28\xb5\x2f\xfd",
                                         .summary = "behind another ending (.csv.zst): packed as by zstd",
                                         .unpack = unpack_zstd,
                                         .begin = begin_zstd,
                                         .add = add_zstd,
                                         .end = end_zstd};
