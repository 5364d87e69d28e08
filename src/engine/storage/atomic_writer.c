#include "engine/storage/atomic_writer.h"

#include "base/path.h"
#include "engine/storage/compression_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_TRIES = 100 };

static enum status write_error(const char *path, int error, struct span span, struct diags *diags)
{
    return diag_error(diags, span, "cannot write `%s`: %s", path, strerror(error));
}

/* Why nothing can be put at `target`, if so; `path` is what the user calls it. */
static enum status check_target(const char *path, const char *target, struct span span, struct diags *diags)
{
    struct stat info;
    if (stat(target, &info) != 0)
        return errno == ENOENT ? STATUS_OK : write_error(path, errno, span, diags);
    if (S_ISDIR(info.st_mode))
        return diag_error(diags, span, "cannot write `%s`: it is a directory", path);
    if (!S_ISREG(info.st_mode))
        return diag_error(diags, span, "cannot write `%s`: it is not a regular file", path);
    if (faccessat(AT_FDCWD, target, W_OK, AT_EACCESS) != 0)
        return write_error(path, errno, span, diags);
    return STATUS_OK;
}

static enum status check_folder(const char *path, const char *target, struct span span, struct diags *diags)
{
    const char *folder = path_directory(target, diags->arena);
    struct stat info;
    if (stat(folder, &info) != 0 && errno == ENOENT) {
        diag_error(diags, span, "cannot write `%s`: there is no folder `%s`", path, path_display(folder, diags->arena));
        return STATUS_FAILED;
    }
    if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0)
        return diag_error(diags, span, "cannot write `%s`: its folder may not be written (%s)", path, strerror(errno));
    return STATUS_OK;
}

static enum status resolve_and_check(const char *path, const char **target, struct span span, struct diags *diags)
{
    const char *shown = path_display(path, diags->arena);
    *target = path_resolve(path, diags->arena);
    if (!*target)
        return write_error(shown, errno, span, diags);
    if (check_folder(shown, *target, span, diags) != STATUS_OK)
        return STATUS_FAILED;
    return check_target(shown, *target, span, diags);
}

enum status writer_check(const char *path, struct span span, struct diags *diags)
{
    const char *target;
    return resolve_and_check(path, &target, span, diags);
}

/* The new file looks like the one it replaces. That the owner stays is only possible for root, and no loss otherwise.
 */
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
    bool replaces = stat(writer->target, &old) == 0;
    const char *temporary = NULL;
    for (int i = 0; i < MAX_TRIES; i++) {
        temporary = path_temporary(writer->target, diags->arena);
        writer->file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, replaces ? 0600 : 0666);
        if (writer->file >= 0 || errno != EEXIST)
            break;
    }
    if (writer->file < 0)
        return write_error(writer->path, errno, span, diags);
    writer->temporary = temporary;
    if (replaces && !copy_mode(writer->file, &old)) {
        enum status status = write_error(writer->path, errno, span, diags);
        writer_discard(writer);
        return status;
    }
    writer->compression = compression_of_path(path);
    writer->packer = writer->compression ? writer->compression->begin(parallel_threads()) : NULL;
    if (writer->compression && !writer->packer) {
        writer_discard(writer);
        return write_error(writer->path, ENOMEM, span, diags);
    }
    return STATUS_OK;
}

/* Whether it could be written: what packs should not go on if not. */
static bool write_out(void *context, const void *data, size_t size)
{
    struct writer *writer = context;
    const char *at = data;
    while (size > 0 && writer->error == 0) {
        ssize_t written = write(writer->file, at, size);
        if (written > 0) {
            at += written;
            size -= (size_t)written;
        } else if (written == 0 || errno != EINTR) {
            writer->error = written == 0 ? EIO : errno;
        }
    }
    return writer->error == 0;
}

static void pack(struct writer *writer, const void *data, size_t size, bool last)
{
    bool packed = writer->compression->add(writer->packer, data, size, last, write_out, writer);
    if (!packed && writer->error == 0)
        writer->error = ENOMEM;
}

void writer_add(struct writer *writer, const void *data, size_t size)
{
    if (writer->error || size == 0)
        return;
    if (writer->packer)
        pack(writer, data, size, false);
    else
        (void)write_out(writer, data, size);
}

static void end_packing(struct writer *writer)
{
    if (writer->packer)
        writer->compression->end(writer->packer);
    writer->packer = NULL;
}

enum status writer_finish(struct writer *writer, struct span span, struct diags *diags)
{
    if (writer->packer && writer->error == 0)
        pack(writer, NULL, 0, true);
    end_packing(writer);
    if (writer->error == 0 && fsync(writer->file) != 0 && errno != EINVAL)
        writer->error = errno;
    if (close(writer->file) != 0 && writer->error == 0)
        writer->error = errno;
    writer->file = -1;
    return writer->error == 0 ? STATUS_OK : write_error(writer->path, writer->error, span, diags);
}

enum status writer_publish(struct writer *writer, struct span span, struct diags *diags)
{
    if (rename(writer->temporary, writer->target) != 0)
        return write_error(writer->path, errno, span, diags);
    writer->temporary = NULL;
    if (!directory_sync(path_directory(writer->target, diags->arena)))
        return write_error(writer->path, errno, span, diags);
    return STATUS_OK;
}

void writer_discard(struct writer *writer)
{
    end_packing(writer);
    if (writer->file >= 0)
        close(writer->file);
    writer->file = -1;
    if (writer->temporary)
        unlink(writer->temporary);
    writer->temporary = NULL;
}
