#include "engine/formats/save.h"

#include "base/path.h"
#include "engine/compression/compression.h"
#include "engine/storage/left_behind.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_TRIES = 100 };

bool splayed_is_path(const char *path)
{
    const size_t length = strlen(path);
    return (length > 0 && path[length - 1] == '/') || (!format_of_path(path) && path_is_directory(path));
}

const char *directory_resolve(const char *path, struct arena *arena)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    return path_resolve(arena_text(arena, path, length), arena);
}

enum status splayed_check(const char *path, struct span span, struct diags *diags)
{
    const char *directory = directory_resolve(path, diags->arena);
    path = path_display(path, diags->arena);
    if (!directory)
        return writer_error(path, errno, span, diags);
    if (!path_is_directory(directory)) {
        struct stat info;
        if (stat(directory, &info) == 0)
            return diag_error(diags, span, "cannot write `%s`: it is a file, not a directory", path);
        return writer_check(directory, span, diags);
    }
    if (faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) != 0)
        return diag_error(diags, span, "cannot write to `%s`: %s", path, strerror(errno));
    return STATUS_OK;
}

/* A column file being written. */
struct column_file {
    const char *path;  /* in the directory */
    const char *file;  /* the last component of path */
    const char *shown; /* the path in messages */
    struct writer writer;
};

static enum status check_names(const struct relation *relation, struct span span, struct diags *diags)
{
    for (size_t i = 0; i < relation->count; i++) {
        const char *name = relation->names[i];
        if (*name == '\0' || *name == '.' || strchr(name, '/'))
            return diag_error_hint(diags, span, "rename it with `map ... as NAME`", "column `%s` cannot be a file name",
                                   name);
        for (size_t j = 0; j < i; j++) {
            if (strcmp(relation->names[j], name) == 0)
                return diag_error(diags, span, "two columns are named `%s` and would be the same file", name);
        }
    }
    return STATUS_OK;
}

/* The files of the columns, created in `directory` and shown in messages as in `shown`. */
static struct column_file *column_files(const struct relation *relation, const char *directory, const char *shown,
                                        struct arena *arena)
{
    struct column_file *files = arena_array(arena, relation->count, sizeof *files);
    for (size_t i = 0; i < relation->count; i++) {
        const char *extension = type_table[relation->columns[i]->type].extension;
        files[i].file = arena_printf(arena, "%s%s", relation->names[i], extension);
        files[i].path = arena_printf(arena, "%s/%s", directory, files[i].file);
        files[i].shown = arena_printf(arena, "%s/%s", shown, files[i].file);
        files[i].writer.file = -1;
    }
    return files;
}

/* Writes all columns to temporary files. */
static enum status write_files(const struct relation *relation, struct column_file *files,
                               const struct workers *workers, struct span span, struct diags *diags)
{
    for (size_t i = 0; i < relation->count; i++) {
        struct column *column = relation->columns[i];
        const struct relation alone = {
            .rows = relation->rows, .count = 1, .columns = &column, .names = &relation->names[i]};
        enum status status = writer_open(&files[i].writer, files[i].path, span, diags);
        files[i].writer.path = files[i].shown;
        const struct format_job job = {
            .format = format_of_type(column->type), .workers = workers, .span = span, .diags = diags};
        if (status == STATUS_OK)
            status = format_write(&job, &alone, &files[i].writer);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static enum status publish_files(struct column_file *files, size_t count, struct span span, struct diags *diags)
{
    for (size_t i = 0; i < count; i++) {
        const enum status status = writer_publish(&files[i].writer, span, diags);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static void discard_files(struct column_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++)
        writer_discard(&files[i].writer);
}

/* How a file in the directory relates to the saved relation. */
enum file_role { FILE_OTHER, FILE_REPLACED, FILE_OUTDATED };

static enum file_role file_role_of(const char *file, const struct column_file *files, const struct relation *relation)
{
    const size_t stem = (size_t)(path_extension(file) - file);
    enum file_role role = FILE_OTHER;
    for (size_t i = 0; i < relation->count; i++) {
        if (strcmp(files[i].file, file) == 0)
            return FILE_REPLACED;
        if (strlen(relation->names[i]) == stem && memcmp(relation->names[i], file, stem) == 0)
            role = FILE_OUTDATED;
    }
    return role;
}

/* Calls `visit` for every raw file in the directory that is not replaced; stops at the first failure. */
static enum status
each_raw_file(const char *directory, const struct column_file *files, const struct relation *relation,
              enum status (*visit)(const char *path, const struct format *format, bool outdated,
                                   const struct relation *relation, struct span span, struct diags *diags),
              struct span span, struct diags *diags)
{
    DIR *listing = opendir(directory);
    if (!listing)
        return diag_error(diags, span, "cannot open `%s`: %s", directory, strerror(errno));
    enum status status = STATUS_OK;
    for (struct dirent *entry; status == STATUS_OK && (entry = readdir(listing));) {
        const struct format *format = format_of_path(entry->d_name);
        if (entry->d_name[0] == '.' || !format || format->type == TYPE_COUNT || compression_of_path(entry->d_name))
            continue;
        const enum file_role role = file_role_of(entry->d_name, files, relation);
        const char *path = arena_printf(diags->arena, "%s/%s", directory, entry->d_name);
        if (role != FILE_REPLACED)
            status = visit(path, format, role == FILE_OUTDATED, relation, span, diags);
    }
    closedir(listing);
    return status;
}

static enum status check_rows(const char *path, const struct format *format, bool outdated,
                              const struct relation *relation, struct span span, struct diags *diags)
{
    struct file_stamp stamp;
    const int64_t size = (int64_t)type_table[format->type].size;
    if (outdated || !file_stamp_of(path, &stamp) || stamp.size / size == relation->rows)
        return STATUS_OK;
    return diag_error_hint(diags, span, "save to a new directory, or remove that file first",
                           "the table has %lld rows, but the existing column `%s` has %lld", (long long)relation->rows,
                           path, (long long)(stamp.size / size));
}

static enum status remove_outdated(const char *path, const struct format *format, bool outdated,
                                   const struct relation *relation, struct span span, struct diags *diags)
{
    (void)format, (void)relation;
    if (outdated && unlink(path) != 0)
        return diag_error(diags, span, "cannot remove the replaced file `%s`: %s", path, strerror(errno));
    return STATUS_OK;
}

static enum status save_into(const struct relation *relation, const char *directory, const struct workers *workers,
                             struct span span, struct diags *diags)
{
    sweep_directory(directory);
    struct column_file *files = column_files(relation, directory, directory, diags->arena);
    enum status status = each_raw_file(directory, files, relation, check_rows, span, diags);
    if (status == STATUS_OK)
        status = write_files(relation, files, workers, span, diags);
    if (status == STATUS_OK)
        status = publish_files(files, relation->count, span, diags);
    discard_files(files, relation->count);
    if (status == STATUS_OK)
        status = each_raw_file(directory, files, relation, remove_outdated, span, diags);
    return status;
}

const char *directory_beside(const char *directory, int *lock, struct arena *arena)
{
    sweep_directory(path_directory(directory, arena));
    for (int i = 0; i < MAX_TRIES; i++) {
        const char *temporary = path_temporary(directory, arena);
        if (mkdir(temporary, 0777) == 0) {
            *lock = open(temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            lock_temporary(*lock);
            return temporary;
        }
        if (errno != EEXIST)
            break;
    }
    return NULL;
}

static enum status save_new(const struct relation *relation, const char *path, const char *directory,
                            const struct workers *workers, struct span span, struct diags *diags)
{
    int lock;
    const char *temporary = directory_beside(directory, &lock, diags->arena);
    if (!temporary)
        return writer_error(path, errno, span, diags);
    struct column_file *files = column_files(relation, temporary, directory, diags->arena);
    enum status status = write_files(relation, files, workers, span, diags);
    if (status == STATUS_OK)
        status = publish_files(files, relation->count, span, diags);
    discard_files(files, relation->count);
    if (status == STATUS_OK && rename(temporary, directory) != 0)
        status = writer_error(path, errno, span, diags);
    close(lock);
    if (status != STATUS_OK) {
        for (size_t i = 0; i < relation->count; i++)
            unlink(files[i].path);
        rmdir(temporary);
        return status;
    }
    if (!directory_sync(path_directory(directory, diags->arena)))
        return writer_error(path, errno, span, diags);
    return STATUS_OK;
}

enum status splayed_save(const struct relation *relation, const char *path, const struct workers *workers,
                         struct span span, struct diags *diags)
{
    if (check_names(relation, span, diags) != STATUS_OK)
        return STATUS_FAILED;
    const char *directory = directory_resolve(path, diags->arena);
    if (path_is_directory(directory))
        return save_into(relation, directory, workers, span, diags);
    return save_new(relation, path, directory, workers, span, diags);
}
