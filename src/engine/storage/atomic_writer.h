/* Writes one file so that it is either there completely or not at all: beside the target first, then renamed over it.
 */
#ifndef RQL_ENGINE_STORAGE_ATOMIC_WRITER_H
#define RQL_ENGINE_STORAGE_ATOMIC_WRITER_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>

struct writer {
    const char *path;                      /* as shown in messages */
    const char *target;                    /* where it really goes: symbolic links are followed */
    const char *temporary;                 /* beside the target */
    int file;                              /* -1 once closed */
    int error;                             /* errno of the first write that failed, 0 so far */
    const struct compression *compression; /* what the path's ending says, or NULL */
    struct packer *packer;
};

/* Starts a file for `path`, packed if its ending says so. A regular file of that name keeps its mode and owner; a
 * device, a pipe or a file that may not be written is an error. Texts are in the diags' arena. */
enum status writer_open(struct writer *writer, const char *path, struct span span, struct diags *diags);

/* Errors are kept for writer_finish. Best called with some 64 KiB at a time or more. */
void writer_add(struct writer *writer, const void *data, size_t size);

/* Makes the bytes durable and closes; after an error only writer_discard is left to call. */
enum status writer_finish(struct writer *writer, struct span span, struct diags *diags);

/* Puts the finished file where it belongs. */
enum status writer_publish(struct writer *writer, struct span span, struct diags *diags);

/* Removes what was not published; may be called at any time. */
void writer_discard(struct writer *writer);

/* Whether a file could be put at `path` as things are: its folder exists and may be written, it is no device. */
enum status writer_check(const char *path, struct span span, struct diags *diags);

#endif
