/* Files mapped into memory, safe against files that shrink while they are mapped.
 *
 * A read past the end of a file that another process truncated raises SIGBUS. main installs a handler that calls
 * mappings_repair, which puts a page of zeroes there and marks the mapping, so that the kernel or loop finishes;
 * whoever used the mapping asks mapping_changed afterwards and turns the result into an error. */
#ifndef RQL_ENGINE_STORAGE_MAPPED_FILE_H
#define RQL_ENGINE_STORAGE_MAPPED_FILE_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping;

/* All mappings of the process; a fixed table so that the signal handler can walk it. One exists, owned by main. */
struct mappings;
struct mappings *mappings_new(void);
void mappings_free(struct mappings *mappings);

/* Async-signal-safe. True if the address lay in a mapping and is readable now. */
bool mappings_repair(struct mappings *mappings, const void *address);

/* What identifies a file's content: a change on disk changes it. Of pipes it is who they are, for what has come through
 * one stays as it is; their size and time are 0. */
struct file_stamp {
    uint64_t device, inode;
    int64_t size;
    int64_t mtime_ns;
};

/* Maps (or, for files of unknown size such as /proc's, reads) a whole regular file. The error names the path and what
 * is wrong: missing, a directory, unreadable, a device, too large. An empty file gives length 0. For pipes see
 * pipe_input.h.
 */
enum status mapping_open(struct mappings *mappings, const char *path, struct span span, struct mapping **mapping,
                         struct diags *diags);

/* The error, by errno, that the path cannot be opened. */
enum status file_open_error(const char *path, struct span span, struct diags *diags);

/* What is in memory instead of in the file of this path and stamp. Takes over `reserved` bytes from mmap at `data`, of
 * which `length` are used; NULL if there are none. Never NULL. */
struct mapping *mapping_from_memory(const char *path, struct file_stamp stamp, void *data, size_t length,
                                    size_t reserved);

struct mapping *mapping_ref(struct mapping *mapping);
void mapping_unref(struct mapping *mapping); /* NULL is allowed */

const void *mapping_data(const struct mapping *mapping);
size_t mapping_length(const struct mapping *mapping);
bool mapping_is_file(const struct mapping *mapping);     /* its bytes are the file's own, not read from it */
const char *mapping_path(const struct mapping *mapping); /* for messages: the middle of a very long one is left out */
struct file_stamp mapping_stamp(const struct mapping *mapping);

/* Whether part of the file was missing when it was read, or the file has been shortened or rewritten in place since it
 * was mapped: what was computed from it is then worth nothing. A file that only grew is as good as before, and so is
 * one that was replaced by another of its name. */
bool mapping_changed(const struct mapping *mapping);

/* Bytes offset .. offset+length-1 are not wanted for now: the memory that they take is free at once, and reading them
 * reads the disk. */
void mapping_drop_pages(const struct mapping *mapping, size_t offset, size_t length);

/* What the file is now; false if it cannot be looked at. */
bool file_stamp_of(const char *path, struct file_stamp *stamp);

#endif
