/* Memory-mapped files, safe against truncation while they are mapped.
 *
 * Reading a mapped page beyond the end of a truncated file raises SIGBUS. main installs a handler that calls
 * mappings_repair, which maps zeroes there and marks the mapping, so that the kernel or loop finishes; users of the
 * mapping call mapping_changed afterwards and turn the result into an error. */
#ifndef RQL_ENGINE_STORAGE_MAPPED_FILE_H
#define RQL_ENGINE_STORAGE_MAPPED_FILE_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct growing_buffer; /* growing_buffer.h */
struct mapping;
struct workers; /* base/parallel.h */

/* All mappings of the process, in a fixed table that the signal handler can walk. main owns the only one. */
struct mappings;
struct mappings *mappings_new(void);
void mappings_free(struct mappings *mappings);

/* Called by the SIGBUS handler; async-signal-safe. Returns true if the address lies in a mapping and is readable now.
 */
bool mappings_repair(struct mappings *mappings, const void *address);

/* Identifies the content of a file: a change on disk changes the stamp. A pipe's stamp only identifies the pipe, with
 * size and time 0, because data read from it never changes. */
struct file_stamp {
    uint64_t device, inode;
    int64_t size;
    int64_t mtime_ns;
};

/* Maps a regular file, or reads it if it has no size (as in /proc) or cannot be mapped. Sets *mapping to one reference;
 * an empty file has length 0. The error says what is wrong with `path`: missing, a directory, unreadable, a device, too
 * large. For pipes see pipe_input.h. */
enum status mapping_open(struct mappings *mappings, const char *path, struct span span, struct mapping **mapping,
                         struct diags *diags);

/* Records that the path cannot be opened, by errno. Returns STATUS_FAILED. */
enum status file_open_error(const char *path, struct span span, struct diags *diags);

/* Records that there is not enough memory to load `path`, as shown in messages. Returns STATUS_FAILED. */
enum status file_memory_error(const char *path, struct span span, struct diags *diags);

/* A mapping of data read from `path` (as shown in messages) with this stamp: takes over the buffer's memory and empties
 * the buffer. Never NULL. */
struct mapping *mapping_from_buffer(const char *path, struct file_stamp stamp, struct growing_buffer *buffer);

/* Bytes offset .. offset+length-1 of a file. */
struct byte_range {
    size_t offset, length;
};

/* What fetches the bytes of a mapping whose file is elsewhere (engine/remote). The first member of its own struct. */
struct mapping_source {
    const struct mapping_source_ops *ops;
};

struct mapping_source_ops {
    enum status (*need)(struct mapping_source *source, const struct byte_range *ranges, size_t count,
                        const struct workers *workers, struct span span, struct diags *diags);
    bool (*changed)(const struct mapping_source *source);
    void (*close)(struct mapping_source *source);
};

/* Maps `length` bytes at `offset`, a multiple of the page size, of an open file, which `source` fills. Takes over the
 * source, also on failure. */
enum status mapping_of_source(struct mappings *mappings, const char *path, int file, size_t offset, size_t length,
                              struct file_stamp stamp, struct mapping_source *source, struct span span,
                              struct mapping **mapping, struct diags *diags);

/* Whether only those bytes can be read that mapping_need has asked for. */
bool mapping_is_partial(const struct mapping *mapping);

/* Returns when the bytes of these ranges can be read, as those of files that are here always can. What is beyond the
 * end of the file is left out. */
enum status mapping_need(struct mapping *mapping, const struct byte_range *ranges, size_t count,
                         const struct workers *workers, struct span span, struct diags *diags);
enum status mapping_need_all(struct mapping *mapping, const struct workers *workers, struct span span,
                             struct diags *diags);

struct mapping *mapping_ref(struct mapping *mapping);
void mapping_unref(struct mapping *mapping); /* NULL is allowed */

const void *mapping_data(const struct mapping *mapping);
size_t mapping_length(const struct mapping *mapping);
bool mapping_is_file(const struct mapping *mapping);     /* the pages are the file's, not a copy */
const char *mapping_path(const struct mapping *mapping); /* as path_display shows it */
struct file_stamp mapping_stamp(const struct mapping *mapping);

/* Whether the file was truncated or rewritten in place since it was mapped: results computed from it are then invalid.
 * A file that only grew, as its first and last bytes tell, or was replaced by another of the same name has not
 * changed. */
bool mapping_changed(const struct mapping *mapping);

/* STATUS_OK, or an error if the mapping has changed. */
enum status mapping_check_unchanged(const struct mapping *mapping, struct span span, struct diags *diags);

/* The error of one that has changed. */
enum status mapping_report_change(const struct mapping *mapping, struct span span, struct diags *diags);

/* Drops bytes offset .. offset+length-1 from memory and the page cache; reading them again reads the disk. */
void mapping_drop_pages(const struct mapping *mapping, size_t offset, size_t length);

/* The stamp of the file now; false with errno if stat fails. */
bool file_stamp_of(const char *path, struct file_stamp *stamp);

#endif
