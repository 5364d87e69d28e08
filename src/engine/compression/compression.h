/* Compressed files: a file name extension after another one (.csv.gz). A new compression format is a file like gzip.c
 * and an entry in the table of compression.c. */
#ifndef RQL_ENGINE_COMPRESSION_COMPRESSION_H
#define RQL_ENGINE_COMPRESSION_COMPRESSION_H

#include "base/parallel.h"
#include "engine/storage/mapped_file.h"

enum decompress_result {
    DECOMPRESS_OK,
    DECOMPRESS_MORE, /* this far */
    DECOMPRESS_TRUNCATED,
    DECOMPRESS_CORRUPT,
    DECOMPRESS_NO_MEMORY,
    DECOMPRESS_CANCELLED
};

/* Receives compressed bytes; returns false to stop. */
typedef bool compress_sink(void *context, const void *data, size_t size);

struct compressor; /* the state of one file, defined by each format */

/* The first member of each format's own struct. */
struct unpacker {
    const unsigned char *data;
    size_t length, at; /* what has been read of it */
};

struct compression {
    const char *extension; /* ".gz" */
    const char *name;
    const char *magic;   /* the first bytes of every file */
    const char *summary; /* for help */

    struct unpacker *(*open)(const void *data, size_t length); /* NULL: no memory */
    /* Writes the next bytes of the content, as many as there is room for unless it ends. */
    enum decompress_result (*next)(struct unpacker *unpacker, char *to, size_t room, size_t *written);
    void (*close)(struct unpacker *unpacker); /* frees it */

    struct compressor *(*begin)(int threads); /* NULL: no memory */
    /* Compresses the next piece of the file; `last` ends it. Returns false if the sink did or memory ran out. */
    bool (*add)(struct compressor *compressor, const void *data, size_t size, bool last, compress_sink *sink,
                void *context);
    void (*end)(struct compressor *compressor); /* frees it */
};

/* Reports how much has been read. */
void unpacker_report(const struct unpacker *unpacker, const struct workers *workers);

/* Replaces the mapping of a compressed file by one of its content. On failure the mapping is unchanged. */
enum status compression_open(const struct compression *compression, struct mapping **mapping,
                             const struct workers *workers, struct span span, struct diags *diags);

/* Defined in gzip.c and zstd.c. */
extern const struct compression compression_gzip, compression_zstd;
extern const struct compression *const compression_table[];
extern const size_t compression_count;

/* The compression of the path's extension, or NULL. */
const struct compression *compression_of_path(const char *path);

/* The compression recognised by the first bytes, or NULL. Not for raw elements, which may begin with any bytes. */
const struct compression *compression_of_content(const void *data, size_t length);

/* The path's extension with its dot, together with the one before if the last one is a compression: ".csv.gz". "" if
 * there is none or the file name begins with the dot. Points into `path`. */
const char *path_extension(const char *path);

/* Whether the path's extension, without that of a compression, is `extension`, ignoring case. */
bool path_has_extension(const char *path, const char *extension);

#endif
