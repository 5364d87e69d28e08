/* ZIP archives, as far as .npz files need them: stored and deflated entries, ZIP64. Format: PKWARE's APPNOTE 6.3. */
#ifndef RQL_ENGINE_NUMPY_ZIP_H
#define RQL_ENGINE_NUMPY_ZIP_H

#include "engine/storage/atomic_writer.h"
#include "engine/storage/file_reader.h"

enum zip_method { ZIP_STORED = 0, ZIP_DEFLATED = 8 };

/* Bytes at .. at+packed-1 of the archive, which are within it. */
struct zip_entry {
    const char *name; /* in the arena */
    int method;       /* may be one that cannot be unpacked */
    bool encrypted;
    size_t at, packed, size; /* `size` is at most what `packed` bytes can unpack to */
    uint32_t checksum;       /* CRC-32 */
};

struct zip_directory {
    struct zip_entry *entries; /* in the arena */
    size_t count;
};

/* Reads the directory of an archive. An error if it is damaged. */
enum status zip_read_directory(const struct format_job *job, const struct mapping *mapping, struct arena *arena,
                               struct zip_directory *directory);

/* Unpacks the first bytes of an entry, at most `capacity`; returns their number. `archive` is its first byte. */
size_t zip_unpack_head(const void *archive, const struct zip_entry *entry, void *to, size_t capacity);

/* Unpacks all `size` bytes of an entry; false if it is damaged. */
bool zip_unpack(const void *archive, const struct zip_entry *entry, void *to);

/* Whether the bytes, `entry->size` of them, have the entry's checksum. */
bool zip_check(const struct zip_entry *entry, const void *bytes);

uint32_t zip_checksum(uint32_t checksum, const void *data, size_t size); /* continues that of 0 bytes, 0 */

/* An archive being written; initialise with zeroes and `writer`. */
struct zip_writer {
    struct writer *writer;
    uint64_t at;             /* bytes written */
    struct zip_saved *saved; /* malloc'd */
    size_t count, capacity;
};

/* Begins a stored entry of `size` bytes, whose content follows by zip_add, at a multiple of 64 bytes in the file. */
void zip_begin(struct zip_writer *zip, const char *name, uint64_t size, uint32_t checksum);
void zip_add(struct zip_writer *zip, const void *data, size_t size);
/* Writes the directory, after all entries. */
void zip_finish(struct zip_writer *zip);
/* Frees the list of entries, also of an unfinished archive; the writer stays. */
void zip_free(struct zip_writer *zip);

#endif
