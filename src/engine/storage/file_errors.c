#include "engine/storage/file_errors.h"

#include "base/path.h"
#include "engine/storage/mapped_file.h"
#include "engine/storage/program_input.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_NAMES = 4096, MAX_NEAREST = 2 };

bool file_is_missing(const char *path)
{
    struct stat info;
    return stat(path, &info) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

/* Adds a hint to the last error: files with similar names in the same directory, or that there is no directory. */
static void hint_similar_files(const char *path, struct diags *diags)
{
    const char *base = path_base(path);
    const char *directory_path = path_directory(path, diags->arena);
    DIR *directory = opendir(directory_path);
    if (!directory) {
        diag_hint(diags, "no such directory: `%s`", path_display(directory_path, diags->arena));
        return;
    }
    const char **names = arena_array(diags->arena, MAX_NAMES, sizeof *names);
    size_t count = 0;
    for (struct dirent *entry; count < MAX_NAMES && (entry = readdir(directory));) {
        if (entry->d_name[0] != '.')
            names[count++] = arena_printf(diags->arena, base == path && path_is_program(entry->d_name) ? "./%s" : "%s",
                                          entry->d_name); /* not a command to run */
    }
    closedir(directory);
    const char *nearest[MAX_NEAREST];
    const size_t found = nearest_names(base, names, count, nearest, MAX_NEAREST);
    const int prefix = (int)(base - path);
    if (found == 1)
        diag_hint(diags, "did you mean `%.*s%s`?", prefix, path, nearest[0]);
    else if (found > 1)
        diag_hint(diags, "did you mean `%.*s%s` or `%.*s%s`?", prefix, path, nearest[0], prefix, path, nearest[1]);
}

enum status file_not_found(const char *path, struct span span, struct diags *diags)
{
    diag_error(diags, span, "no such file: `%s`", path_display(path, diags->arena));
    if (strstr(path, "://"))
        diag_hint(diags, "rql loads files, also by http://, https:// and s3://, and tables by "
                         "clickhouse://HOST/DATABASE/TABLE?by=COLUMN");
    else
        hint_similar_files(path, diags);
    return STATUS_FAILED;
}

const struct column *changed_column(struct column *const *columns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (columns[i]->mapping && mapping_changed(columns[i]->mapping))
            return columns[i];
    }
    return NULL;
}

enum status file_changed_error(const struct column *column, struct span span, struct diags *diags)
{
    return diag_error_hint(
        diags, span,
        "nothing was printed or saved; load it again once it is complete. Replacing a file by renaming a "
        "new one over it is safe",
        "`%s` was truncated or rewritten after it was opened", mapping_path(column->mapping));
}
