#include "engine/formats/file_list.h"

#include "base/path.h"
#include "base/text.h"
#include "engine/compression/compression.h"
#include "engine/formats/formats.h"
#include "engine/formats/open_file.h"
#include "engine/remote/remote.h"
#include "engine/storage/file_errors.h"
#include "engine/storage/pipe_input.h"
#include "engine/storage/program_input.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char wildcards[] = "*?[";

/* How deep folders may be nested. */
enum { MAX_DEPTH = 64 };

struct search {
    struct arena *arena;
    const char **paths;
    size_t count, capacity;
    bool folder; /* all of a folder: names that begin with `_` are left out */
};

bool path_is_pattern(const char *path)
{
    return strpbrk(path, wildcards) && (path_is_address(path) ? path_is_bucket(path) : file_is_missing(path));
}

const char **raw_file_names(const char *path, size_t *count, struct arena *arena)
{
    size_t capacity = 0;
    *count = 0;
    DIR *directory = opendir(path);
    if (!directory)
        return NULL;
    const char **names = NULL;
    for (struct dirent *entry; (entry = readdir(directory));) {
        const struct format *format = format_of_path(entry->d_name);
        if (entry->d_name[0] == '.' || entry->d_type == DT_DIR || !format || format->type == TYPE_COUNT)
            continue;
        names = arena_reserve(arena, names, *count, &capacity, sizeof *names);
        names[(*count)++] = arena_text(arena, entry->d_name, strlen(entry->d_name));
    }
    closedir(directory);
    if (*count > 0)
        qsort(names, *count, sizeof *names, compare_words);
    return names;
}

bool path_is_folder(const char *path)
{
    if (path_is_address(path))
        return path_is_bucket(path) && path[strlen(path) - 1] == '/';
    if (!path_is_directory(path))
        return false;
    struct arena *arena = arena_new();
    size_t count;
    const bool raw = raw_file_names(path, &count, arena) && count > 0;
    arena_free(arena);
    return !raw;
}

/* A file that was found is a file, whatever its name begins with: not a command to run, nor the standard input. */
static void add_path(struct search *search, const char *path)
{
    if (path_is_program(path) || path_is_pipe(path))
        path = arena_printf(search->arena, "./%s", path);
    *ARENA_PUSH(search->arena, search->paths, search->count, search->capacity) = path;
}

static void match(struct search *search, const char *folder, const char *pattern, int depth);

/* Whether the entry is a folder, not by a link: those could lead in circles. */
static bool is_folder_entry(const struct dirent *entry, const char *path)
{
    struct stat info;
    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type == DT_DIR;
    return lstat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Matches the entries of a folder with the first part of the pattern, and what is within with the rest. */
static void match_entries(struct search *search, const char *folder, const char *pattern, int depth)
{
    const size_t length = strcspn(pattern, "/");
    const char *first = arena_text(search->arena, pattern, length), *rest = pattern + length;
    const bool any_depth = strcmp(first, "**") == 0;
    DIR *directory = opendir(*folder ? folder : ".");
    rest += strspn(rest, "/");
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        const char *name = entry->d_name;
        if (name[0] == '.' && (search->folder || any_depth || first[0] != '.'))
            continue;
        if (search->folder && name[0] == '_')
            continue;
        const char *path = arena_printf(search->arena, "%s%s", folder, name);
        if (any_depth && is_folder_entry(entry, path))
            match(search, arena_printf(search->arena, "%s/", path), pattern, depth + 1);
        else if (any_depth ? !*rest : !*rest && fnmatch(first, name, FNM_PERIOD) == 0)
            add_path(search, path);
        else if (!any_depth && *rest && fnmatch(first, name, FNM_PERIOD) == 0)
            match(search, arena_printf(search->arena, "%s/", path), rest, depth + 1);
    }
    if (directory)
        closedir(directory);
}

/* Adds the files below `folder`, empty or ending in a slash, that the pattern stands for. */
static void match(struct search *search, const char *folder, const char *pattern, int depth)
{
    if (depth > MAX_DEPTH)
        return;
    match_entries(search, folder, pattern, depth);
    const size_t deep = strncmp(pattern, "**/", 3) == 0 ? 3 + strspn(pattern + 3, "/") : 0;
    if (deep > 0 && pattern[deep])
        match(search, folder, pattern + deep, depth + 1);
}

/* The bytes of the path up to the last slash before its first wildcard. */
static size_t literal_folder(const char *path)
{
    size_t length = strcspn(path, wildcards);
    while (length > 0 && path[length - 1] != '/')
        length--;
    return length;
}

static bool has_any_depth(const char *path)
{
    for (const char *at = strstr(path, "**"); at; at = strstr(at + 1, "**")) {
        if ((at == path || at[-1] == '/') && (at[2] == '/' || at[2] == '\0'))
            return true;
    }
    return false;
}

static bool search_glob(struct search *search, const char *path)
{
    glob_t found = {0};
    const int problem = glob(path, 0, NULL, &found);
    for (size_t i = 0; problem == 0 && i < found.gl_pathc; i++)
        add_path(search, arena_text(search->arena, found.gl_pathv[i], strlen(found.gl_pathv[i])));
    globfree(&found);
    return problem != GLOB_NOSPACE;
}

/* Sorts what was found, and leaves out what was found twice. */
static void sort_paths(struct search *search)
{
    size_t kept = 0;
    if (search->count > 0)
        qsort(search->paths, search->count, sizeof *search->paths, compare_words);
    for (size_t i = 0; i < search->count; i++) {
        if (kept == 0 || strcmp(search->paths[kept - 1], search->paths[i]) != 0)
            search->paths[kept++] = search->paths[i];
    }
    search->count = kept;
}

/* Whether files of the format are tables whose columns have names. */
static bool holds_table(const struct format *format)
{
    return format && format->open && format->columns == 0;
}

/* Keeps the files of tables of a folder, which have one format. */
static enum status keep_tables(struct search *search, const char *path, struct span span, struct diags *diags)
{
    const struct format *format = NULL;
    size_t kept = 0;
    for (size_t i = 0; i < search->count; i++) {
        const struct format *own = format_of_path(search->paths[i]);
        if (!holds_table(own))
            continue;
        if (format && format->open != own->open)
            return diag_error_hint(
                diags, span,
                arena_printf(diags->arena, "state the format, as in `load '%s**/*%s'`", path, own->extension),
                "the directory `%s` has files of several formats: `%s` and `%s`", path_display(path, diags->arena),
                path_display(search->paths[0], diags->arena), path_display(search->paths[i], diags->arena));
        format = own;
        search->paths[kept++] = search->paths[i];
    }
    search->count = kept;
    return STATUS_OK;
}

/* A step of FNV-1a, on words. */
static uint64_t hash_word(uint64_t hash, uint64_t word)
{
    return (hash ^ word) * 0x100000001b3;
}

static void add_stamp(struct file_stamp *stamp, const char *path, const struct stat *info)
{
    const int64_t mtime_ns = (int64_t)info->st_mtim.tv_sec * 1000000000 + info->st_mtim.tv_nsec;
    const uint64_t words[] = {info->st_dev, info->st_ino, (uint64_t)info->st_size, (uint64_t)mtime_ns};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        stamp->inode = hash_word(stamp->inode, words[k]);
    for (const char *c = path; *c; c++)
        stamp->inode = hash_word(stamp->inode, (unsigned char)*c);
    stamp->size += info->st_size;
    stamp->mtime_ns = mtime_ns > stamp->mtime_ns ? mtime_ns : stamp->mtime_ns;
}

/* Leaves out folders. */
static enum status stamp_files(struct file_list *list, struct span span, struct diags *diags)
{
    size_t kept = 0;
    list->bytes = arena_array(diags->arena, list->count + 1, sizeof *list->bytes);
    list->stamp = (struct file_stamp){.device = UINT64_MAX, .inode = 0xcbf29ce484222325, .mtime_ns = INT64_MIN};
    for (size_t i = 0; i < list->count; i++) {
        struct stat info;
        if (stat(list->paths[i], &info) != 0)
            return file_open_error(list->paths[i], span, diags);
        if (S_ISDIR(info.st_mode))
            continue;
        add_stamp(&list->stamp, list->paths[i], &info);
        list->bytes[kept] = info.st_size;
        list->paths[kept++] = list->paths[i];
    }
    list->count = kept;
    return STATUS_OK;
}

static enum status none_found(const char *path, bool folder, struct span span, struct diags *diags)
{
    const char *shown = path_display(path, diags->arena);
    if (!folder)
        return diag_error(diags, span, "no file matches `%s`", shown);
    return diag_error_hint(
        diags, span,
        "it may hold files that name their columns, as .parquet and .csv, also in folders within, or "
        "raw columns such as .i32 and .f64",
        "the directory `%s` holds no files that can be loaded", shown);
}

/* Lists objects of a bucket. */
static enum status list_objects(const struct opener *opener, const char *path, const struct format *format,
                                struct span span, struct file_list *list, struct diags *diags)
{
    struct remote_list found;
    struct search search = {.arena = diags->arena, .folder = !path_is_pattern(path)};
    const struct workers workers = opener_workers(opener, path, diags->arena);
    enum status status = remote_list(opener->remote, path, &workers, span, &found, diags);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < found.count; i++)
        add_path(&search, found.objects[i].path);
    if (search.folder && !format)
        status = keep_tables(&search, path, span, diags);
    *list = (struct file_list){.paths = search.paths, .count = search.count};
    list->bytes = arena_array(diags->arena, list->count + 1, sizeof *list->bytes);
    list->stamp = (struct file_stamp){.device = UINT64_MAX - 2, .inode = found.hash};
    for (size_t i = 0, k = 0; i < list->count; i++, k++) {
        while (found.objects[k].path != list->paths[i]) /* those that were left out */
            k++;
        list->bytes[i] = found.objects[k].bytes;
        list->stamp.size += list->bytes[i];
    }
    return status == STATUS_OK && list->count == 0 ? none_found(path, search.folder, span, diags) : status;
}

enum status file_list_make(const struct opener *opener, const char *path, const struct format *format, struct span span,
                           struct file_list *list, struct diags *diags)
{
    if (path_is_address(path))
        return list_objects(opener, path, format, span, list, diags);
    struct search search = {.arena = diags->arena, .folder = !path_is_pattern(path)};
    enum status status = STATUS_OK;
    bool memory = true;
    *list = (struct file_list){0};
    if (search.folder && access(path, R_OK | X_OK) != 0)
        return diag_error(diags, span, "cannot open `%s`: %s", path_display(path, diags->arena), strerror(errno));
    if (search.folder) {
        const char *slash = path[strlen(path) - 1] == '/' ? "" : "/";
        match(&search, arena_printf(search.arena, "%s%s", path, slash), "**", 0);
    } else if (has_any_depth(path)) {
        const size_t length = literal_folder(path);
        match(&search, arena_text(search.arena, path, length), path + length, 0);
    } else {
        memory = search_glob(&search, path);
    }
    if (!memory)
        return diag_no_memory(diags, span, "not enough memory");
    sort_paths(&search);
    if (search.folder && !format)
        status = keep_tables(&search, path, span, diags);
    list->paths = search.paths;
    list->count = search.count;
    if (status == STATUS_OK)
        status = stamp_files(list, span, diags);
    return status == STATUS_OK && list->count == 0 ? none_found(path, search.folder, span, diags) : status;
}

/* The name of the program that the command begins with. */
static const char *program_stem(const char *command, struct arena *arena)
{
    command += strspn(command, " \t");
    return path_base(arena_text(arena, command, strcspn(command, " \t;|&<>()")));
}

const char *path_stem(const char *path, struct arena *arena)
{
    if (path_is_program(path))
        return program_stem(path + 1, arena);
    path = path_of_file(path, arena);
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    path = arena_text(arena, path, end);
    const char *base = path_base(path);
    size_t length = (size_t)(path_extension(path) - base);
    if (path_is_pattern(path)) {
        size_t before = strcspn(base, wildcards);
        while (before > 0 && before <= length && strchr("-_. ", base[before - 1]))
            before--;
        length = before > 0 && before < length ? before : length;
    }
    return arena_text(arena, base, length);
}
