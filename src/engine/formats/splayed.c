#include "engine/formats/splayed.h"

#include "base/path.h"
#include "engine/storage/compression_table.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_TRIES = 100 };

static bool is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool splayed_is_path(const char *path)
{
    size_t length = strlen(path);
    return (length > 0 && path[length - 1] == '/') || (!format_of_path(path) && is_directory(path));
}

/* The directory without slashes at its end, links followed. NULL: too many links. */
static const char *directory_of(const char *path, struct arena *arena)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    return path_resolve(arena_text(arena, path, length), arena);
}

enum status splayed_check(const char *path, struct span span, struct diags *diags)
{
    const char *directory = directory_of(path, diags->arena);
    path = path_display(path, diags->arena);
    if (!directory)
        return diag_error(diags, span, "cannot write `%s`: %s", path, strerror(errno));
    if (!is_directory(directory)) {
        struct stat info;
        if (stat(directory, &info) == 0)
            return diag_error(diags, span, "cannot write `%s`: it is a file, not a directory", path);
        return writer_check(directory, span, diags);
    }
    if (faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) != 0)
        return diag_error(diags, span, "cannot write in `%s`: %s", path, strerror(errno));
    return STATUS_OK;
}

/* One column of the relation on its way to its file. */
struct part {
    const char *path;  /* in the directory */
    const char *file;  /* the last part of path */
    const char *shown; /* the path in messages */
    struct writer writer;
};

static enum status check_names(const struct relation *relation, struct span span, struct diags *diags)
{
    for (size_t i = 0; i < relation->count; i++) {
        const char *name = relation->names[i];
        if (*name == '\0' || *name == '.' || strchr(name, '/')) {
            diag_error(diags, span, "column `%s` cannot be the name of a file", name);
            diag_hint(diags, "give it another with `map ... as NAME`");
            return STATUS_FAILED;
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(relation->names[j], name) == 0)
                return diag_error(diags, span, "two columns are called `%s`, and so would be their files", name);
        }
    }
    return STATUS_OK;
}

/* The files of the columns: made in `directory`, told to the user as in `shown`. */
static struct part *column_files(const struct relation *relation, const char *directory, const char *shown,
                                 struct arena *arena)
{
    struct part *parts = arena_array(arena, relation->count, sizeof *parts);
    for (size_t i = 0; i < relation->count; i++) {
        const char *ending = type_table[relation->columns[i]->type].ending;
        parts[i].file = arena_printf(arena, "%s%s", relation->names[i], ending);
        parts[i].path = arena_printf(arena, "%s/%s", directory, parts[i].file);
        parts[i].shown = arena_printf(arena, "%s/%s", shown, parts[i].file);
        parts[i].writer.file = -1;
    }
    return parts;
}

/* Writes all columns beside where they belong. */
static enum status write_parts(const struct relation *relation, struct part *parts, const struct workers *workers,
                               struct span span, struct diags *diags)
{
    for (size_t i = 0; i < relation->count; i++) {
        struct column *column = relation->columns[i];
        const struct relation alone = {
            .rows = relation->rows, .count = 1, .columns = &column, .names = &relation->names[i]};
        enum status status = writer_open(&parts[i].writer, parts[i].path, span, diags);
        parts[i].writer.path = parts[i].shown;
        const struct format_job job = {format_of_type(column->type), workers, span, diags};
        if (status == STATUS_OK)
            status = format_write(&job, &alone, &parts[i].writer);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static enum status publish_parts(struct part *parts, size_t count, struct span span, struct diags *diags)
{
    for (size_t i = 0; i < count; i++) {
        enum status status = writer_publish(&parts[i].writer, span, diags);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static void discard_parts(struct part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        writer_discard(&parts[i].writer);
}

/* What a file in the directory is to the relation that goes there. */
enum relationship { IS_OTHER, IS_REPLACED, IS_OUTDATED };

static enum relationship relationship_of(const char *file, const struct part *parts, const struct relation *relation)
{
    size_t stem = (size_t)(path_ending(file) - file);
    enum relationship relationship = IS_OTHER;
    for (size_t i = 0; i < relation->count; i++) {
        if (strcmp(parts[i].file, file) == 0)
            return IS_REPLACED;
        if (strlen(relation->names[i]) == stem && memcmp(relation->names[i], file, stem) == 0)
            relationship = IS_OUTDATED;
    }
    return relationship;
}

/* Calls `visit` for every raw file in the directory that the save does not replace; stops at the first that fails. */
static enum status each_raw_file(const char *directory, const struct part *parts, const struct relation *relation,
                                 enum status (*visit)(const char *path, const struct format *format, bool outdated,
                                                      const struct relation *relation, struct span span,
                                                      struct diags *diags),
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
        enum relationship relationship = relationship_of(entry->d_name, parts, relation);
        const char *path = arena_printf(diags->arena, "%s/%s", directory, entry->d_name);
        if (relationship != IS_REPLACED)
            status = visit(path, format, relationship == IS_OUTDATED, relation, span, diags);
    }
    closedir(listing);
    return status;
}

static enum status check_rows(const char *path, const struct format *format, bool outdated,
                              const struct relation *relation, struct span span, struct diags *diags)
{
    struct file_stamp stamp;
    int64_t size = (int64_t)type_table[format->type].size;
    if (outdated || !file_stamp_of(path, &stamp) || stamp.size / size == relation->rows)
        return STATUS_OK;
    diag_error(diags, span, "the table has %lld rows, but the column `%s` that is there already has %lld",
               (long long)relation->rows, path, (long long)(stamp.size / size));
    diag_hint(diags, "save to a new directory, or remove that file first");
    return STATUS_FAILED;
}

static enum status remove_outdated(const char *path, const struct format *format, bool outdated,
                                   const struct relation *relation, struct span span, struct diags *diags)
{
    (void)format, (void)relation;
    if (outdated && unlink(path) != 0)
        return diag_error(diags, span, "cannot remove `%s`, which is replaced: %s", path, strerror(errno));
    return STATUS_OK;
}

static enum status save_into(const struct relation *relation, const char *directory, const struct workers *workers,
                             struct span span, struct diags *diags)
{
    struct part *parts = column_files(relation, directory, directory, diags->arena);
    enum status status = each_raw_file(directory, parts, relation, check_rows, span, diags);
    if (status == STATUS_OK)
        status = write_parts(relation, parts, workers, span, diags);
    if (status == STATUS_OK)
        status = publish_parts(parts, relation->count, span, diags);
    discard_parts(parts, relation->count);
    if (status == STATUS_OK)
        status = each_raw_file(directory, parts, relation, remove_outdated, span, diags);
    return status;
}

/* Makes a directory beside the one wanted. */
static const char *make_beside(const char *directory, struct arena *arena)
{
    for (int i = 0; i < MAX_TRIES; i++) {
        const char *beside = path_temporary(directory, arena);
        if (mkdir(beside, 0777) == 0)
            return beside;
        if (errno != EEXIST)
            break;
    }
    return NULL;
}

static enum status save_new(const struct relation *relation, const char *path, const char *directory,
                            const struct workers *workers, struct span span, struct diags *diags)
{
    const char *beside = make_beside(directory, diags->arena);
    if (!beside)
        return diag_error(diags, span, "cannot write `%s`: %s", path, strerror(errno));
    struct part *parts = column_files(relation, beside, directory, diags->arena);
    enum status status = write_parts(relation, parts, workers, span, diags);
    if (status == STATUS_OK)
        status = publish_parts(parts, relation->count, span, diags);
    discard_parts(parts, relation->count);
    if (status == STATUS_OK && rename(beside, directory) != 0)
        status = diag_error(diags, span, "cannot write `%s`: %s", path, strerror(errno));
    if (status != STATUS_OK) {
        for (size_t i = 0; i < relation->count; i++)
            unlink(parts[i].path);
        rmdir(beside);
        return status;
    }
    if (!directory_sync(path_directory(directory, diags->arena)))
        return diag_error(diags, span, "cannot write `%s`: %s", path, strerror(errno));
    return STATUS_OK;
}

enum status splayed_save(const struct relation *relation, const char *path, const struct workers *workers,
                         struct span span, struct diags *diags)
{
    if (check_names(relation, span, diags) != STATUS_OK)
        return STATUS_FAILED;
    const char *directory = directory_of(path, diags->arena);
    if (is_directory(directory))
        return save_into(relation, directory, workers, span, diags);
    return save_new(relation, path, directory, workers, span, diags);
}
