/* Packed files: what an ending behind another one says (.csv.gz), and who packs and unpacks it. A new way of packing is
 * a row in compression.c. */
#ifndef RQL_ENGINE_STORAGE_COMPRESSION_H
#define RQL_ENGINE_STORAGE_COMPRESSION_H

#include "base/parallel.h"
#include "engine/storage/mapped_file.h"

struct growing_buffer; /* growing_buffer.h */

enum decompressed { UNPACKED, UNPACKED_CUT_SHORT, UNPACKED_DAMAGED, UNPACKED_TOO_LARGE, UNPACKED_CANCELLED };

/* Takes packed bytes; false if there is a reason not to go on. */
typedef bool pack_sink(void *context, const void *data, size_t size);

struct packer; /* of one file, as its way of packing has it */

struct compression {
    const char *ending; /* ".gz" */
    const char *name;
    const char *magic;   /* the bytes that all it packs begins with */
    const char *summary; /* for help */

    /* Unpacks the whole of `length` bytes. */
    enum decompressed (*unpack)(const void *data, size_t length, struct growing_buffer *room,
                                const struct workers *workers);

    /* Packs a file piece by piece. NULL: no memory. `last` ends it; false if the sink said so or memory ran out. */
    struct packer *(*begin)(int threads);
    bool (*add)(struct packer *packer, const void *data, size_t size, bool last, pack_sink *sink, void *context);
    void (*end)(struct packer *packer);
};

/* Makes the mapping of a packed file one of what is in it. On failure the mapping stays as it was. */
enum status compression_open(const struct compression *compression, struct mapping **mapping,
                             const struct workers *workers, struct span span, struct diags *diags);

/* gzip.c, zstd.c: the rows of the table. */
extern const struct compression packing_gzip, packing_zstd;

#endif
