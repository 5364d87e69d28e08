#include "engine/storage/atomic_writer.h"

#include "base/path.h"
#include "engine/compression/compression.h"
#include "engine/storage/left_behind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_TRIES = 100 };

enum status writer_error(const char *path, int error, struct span span, struct diags *diags)
{
    return diag_error(diags, span, "cannot write `%s`: %s", path, strerror(error));
}

/* Checks the file to be replaced; `path` is the target as the user wrote it. */
static enum status check_target(const char *path, const char *target, struct span span, struct diags *diags)
{
    struct stat info;
    if (stat(target, &info) != 0)
        return errno == ENOENT ? STATUS_OK : writer_error(path, errno, span, diags);
    if (S_ISDIR(info.st_mode))
        return diag_error(diags, span, "cannot write `%s`: it is a directory", path);
    if (!S_ISREG(info.st_mode))
        return diag_error(diags, span, "cannot write `%s`: it is not a regular file", path);
    if (faccessat(AT_FDCWD, target, W_OK, AT_EACCESS) != 0)
        return writer_error(path, errno, span, diags);
    return STATUS_OK;
}

static enum status check_directory(const char *path, const char *target, struct span span, struct diags *diags)
{
    const char *directory = path_directory(target, diags->arena);
    struct stat info;
    if (stat(directory, &info) != 0 && errno == ENOENT) {
        if (path_is_address(path))
            return diag_error_hint(diags, span, "save it to a file, then upload it, as by `aws s3 cp` or `curl -T`",
                                   "cannot write `%s`: addresses are only read", path);
        if (strstr(path, "://"))
            return diag_error_hint(diags, span,
                                   "rql writes local files, and tables by clickhouse://HOST/DATABASE/TABLE",
                                   "cannot write `%s`: it is no file", path);
        return diag_error(diags, span, "cannot write `%s`: no such directory: `%s`", path,
                          path_display(directory, diags->arena));
    }
    if (faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) != 0)
        return diag_error(diags, span, "cannot write `%s`: cannot write to its directory: %s", path, strerror(errno));
    return STATUS_OK;
}

static enum status resolve_and_check(const char *path, const char **target, struct span span, struct diags *diags)
{
    const char *shown = path_display(path, diags->arena);
    *target = path_resolve(path, diags->arena);
    if (!*target)
        return writer_error(shown, errno, span, diags);
    if (check_directory(shown, *target, span, diags) != STATUS_OK)
        return STATUS_FAILED;
    return check_target(shown, *target, span, diags);
}

enum status writer_check(const char *path, struct span span, struct diags *diags)
{
    const char *target;
    return resolve_and_check(path, &target, span, diags);
}

/* The new file gets the mode and owner of the one it replaces. Only root can set the owner; otherwise it is left. */
static bool copy_mode(int file, const struct stat *old)
{
    if (fchown(file, old->st_uid, old->st_gid) != 0 && errno != EPERM && errno != EINVAL)
        return false;
    return fchmod(file, old->st_mode & 0777) == 0;
}

enum status writer_open(struct writer *writer, const char *path, struct span span, struct diags *diags)
{
    *writer = (struct writer){.path = path_display(path, diags->arena), .file = -1};
    if (resolve_and_check(path, &writer->target, span, diags) != STATUS_OK)
        return STATUS_FAILED;
    struct stat old;
    const bool replaces = stat(writer->target, &old) == 0;
    const char *temporary = NULL;
    for (int i = 0; i < MAX_TRIES; i++) {
        temporary = path_temporary(writer->target, diags->arena);
        writer->file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, replaces ? 0600 : 0666);
        if (writer->file >= 0 || errno != EEXIST)
            break;
    }
    if (writer->file < 0)
        return writer_error(writer->path, errno, span, diags);
    writer->temporary = temporary;
    lock_temporary(writer->file);
    if (replaces && !copy_mode(writer->file, &old)) {
        const enum status status = writer_error(writer->path, errno, span, diags);
        writer_discard(writer);
        return status;
    }
    writer->compression = compression_of_path(path);
    writer->compressor = writer->compression ? writer->compression->begin(parallel_threads()) : NULL;
    if (writer->compression && !writer->compressor) {
        writer_discard(writer);
        return writer_error(writer->path, ENOMEM, span, diags);
    }
    return STATUS_OK;
}

/* The sink of the compressor. Returns false after an error. */
static bool write_out(void *context, const void *data, size_t size)
{
    struct writer *writer = context;
    const char *at = data;
    while (size > 0 && writer->error == 0) {
        const ssize_t written = write(writer->file, at, size);
        if (written > 0) {
            at += written;
            size -= (size_t)written;
        } else if (written == 0 || errno != EINTR) {
            writer->error = written == 0 ? EIO : errno;
        }
    }
    return writer->error == 0;
}

static void compress(struct writer *writer, const void *data, size_t size, bool last)
{
    const bool compressed = writer->compression->add(writer->compressor, data, size, last, write_out, writer);
    if (!compressed && writer->error == 0)
        writer->error = ENOMEM;
}

void writer_add(struct writer *writer, const void *data, size_t size)
{
    if (writer->error || size == 0)
        return;
    if (writer->compressor)
        compress(writer, data, size, false);
    else
        (void)write_out(writer, data, size);
}

static void end_compression(struct writer *writer)
{
    if (writer->compressor)
        writer->compression->end(writer->compressor);
    writer->compressor = NULL;
}

enum status writer_finish(struct writer *writer, struct span span, struct diags *diags)
{
    if (writer->compressor && writer->error == 0)
        compress(writer, NULL, 0, true);
    end_compression(writer);
    if (writer->error == 0 && !writer->unsynced && fsync(writer->file) != 0 && errno != EINVAL)
        writer->error = errno;
    if (close(writer->file) != 0 && writer->error == 0)
        writer->error = errno;
    writer->file = -1;
    return writer->error == 0 ? STATUS_OK : writer_error(writer->path, writer->error, span, diags);
}

enum status writer_publish(struct writer *writer, struct span span, struct diags *diags)
{
    if (rename(writer->temporary, writer->target) != 0)
        return writer_error(writer->path, errno, span, diags);
    writer->temporary = NULL;
    if (!writer->unsynced && !directory_sync(path_directory(writer->target, diags->arena)))
        return diag_error(diags, span, "`%s` is written, but a crash may lose it: its directory was not synced: %s",
                          writer->path, strerror(errno));
    return STATUS_OK;
}

void writer_discard(struct writer *writer)
{
    end_compression(writer);
    if (writer->file >= 0)
        close(writer->file);
    writer->file = -1;
    if (writer->temporary)
        unlink(writer->temporary);
    writer->temporary = NULL;
}
