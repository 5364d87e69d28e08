/* Writes a file atomically: to a temporary file in the same directory, then renamed over the target. */
#ifndef RQL_ENGINE_STORAGE_ATOMIC_WRITER_H
#define RQL_ENGINE_STORAGE_ATOMIC_WRITER_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>

struct writer {
    const char *path;                      /* as shown in messages */
    const char *target;                    /* the path with symbolic links resolved */
    const char *temporary;                 /* in the target's directory; NULL: none */
    int file;                              /* -1: closed */
    int error;                             /* errno of the first failed write, 0 if none */
    bool unsynced;                         /* one of many: the caller syncs them by filesystem_sync */
    const struct compression *compression; /* by the path's extension, or NULL */
    struct compressor *compressor;
};

/* Opens a temporary file for `path`, compressed according to its extension. An existing regular file keeps its mode and
 * owner; a device, a pipe or a file without write permission is an error. Texts are in the diags' arena. */
enum status writer_open(struct writer *writer, const char *path, struct span span, struct diags *diags);

/* Appends bytes, best 64 KiB or more at a time. Errors are reported by writer_finish. */
void writer_add(struct writer *writer, const void *data, size_t size);

/* Syncs and closes the file. After an error call only writer_discard. */
enum status writer_finish(struct writer *writer, struct span span, struct diags *diags);

/* Renames the finished file to its target. */
enum status writer_publish(struct writer *writer, struct span span, struct diags *diags);

/* Removes an unpublished file and frees resources; may be called at any time after writer_open. */
void writer_discard(struct writer *writer);

/* Checks that a file could be written at `path` now: its directory exists and is writable, and it is no device. */
enum status writer_check(const char *path, struct span span, struct diags *diags);

/* Records that `path` cannot be written because of `error`, an errno. Returns STATUS_FAILED. */
enum status writer_error(const char *path, int error, struct span span, struct diags *diags);

#endif
