/* Packed files: what an ending behind another one says (.csv.gz), and who packs and unpacks it. A new way of packing is
 * a row in packing.c. */
#ifndef RQL_ENGINE_STORAGE_COMPRESSION_H
#define RQL_ENGINE_STORAGE_COMPRESSION_H

#include "base/parallel.h"
#include "engine/storage/mapped_file.h"

/* Memory that grows as it is written: for what is unpacked, or comes through a pipe. It is from mmap. */
struct room {
    char *data;
    size_t used, size;
    size_t most; /* bytes: what needs more is an error */
};

/* Makes room for `more` bytes behind what is used; false if there is none. */
bool room_make(struct room *room, size_t more);

enum unpacked { UNPACKED, UNPACKED_CUT_SHORT, UNPACKED_DAMAGED, UNPACKED_TOO_LARGE, UNPACKED_CANCELLED };

/* Takes packed bytes; false if there is a reason not to go on. */
typedef bool pack_sink(void *context, const void *data, size_t size);

struct packer; /* of one file, as its way of packing has it */

struct packing {
    const char *ending; /* ".gz" */
    const char *name;
    const char *magic;   /* the bytes that all it packs begins with */
    const char *summary; /* for help */

    /* Unpacks the whole of `length` bytes. */
    enum unpacked (*unpack)(const void *data, size_t length, struct room *room, const struct crew *crew);

    /* Packs a file piece by piece. NULL: no memory. `last` ends it; false if the sink said so or memory ran out. */
    struct packer *(*begin)(int threads);
    bool (*add)(struct packer *packer, const void *data, size_t size, bool last, pack_sink *sink, void *context);
    void (*end)(struct packer *packer);
};

extern const struct packing *const packing_table[];
extern const size_t packing_count;

/* The way of packing that a path's ending says, or NULL. */
const struct packing *packing_of_path(const char *path);

/* The way of packing that the first bytes tell of, or NULL. Only data that cannot begin so otherwise may be asked
 * about: raw elements can. */
const struct packing *packing_of_content(const void *data, size_t length);

/* Makes the mapping of a packed file one of what is in it. On failure the mapping stays as it was. */
enum status packing_open(const struct packing *packing, struct mapping **mapping, const struct crew *crew,
                         struct span span, struct diags *diags);

/* For those who unpack: tells how far it is. */
void packing_tell(const struct crew *crew, size_t done, size_t length);

/* gzip.c, zstd.c: the rows of the table. */
extern const struct packing packing_gzip, packing_zstd;

#endif
