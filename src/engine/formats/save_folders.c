#include "engine/formats/save.h"

#include "base/heap.h"
#include "base/name_set.h"
#include "base/path.h"
#include "engine/formats/partition.h"
#include "engine/storage/left_behind.h"
#include "engine/storage/row_set.h"
#include "engine/values/dictionary.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder of this many rows is written by all threads. */
enum { LONG_ROWS = 1 << 20, SHORT_DICTIONARY = 64 };

/* More files are synced at once: a sync of each takes some milliseconds. */
enum { FEW_FILES = 8 };

/* The rows of one folder, and their file. */
struct folder {
    int64_t begin, end;
    const char *name; /* year=2024/month=1 */
    bool made;        /* it was, and is removed again if saving fails */
    struct writer writer;
};

struct saving {
    const struct relation *relation;
    const struct save_folders *by;
    const char *root;  /* where folders are made */
    const char *shown; /* the path in messages */
    struct folder *folders;
    size_t count, capacity;
    const char *file; /* data.parquet */
    /* The columns that files have. */
    size_t *kept;
    const char **names;
    size_t kept_count;
    /* Of each thread, and of each folder. */
    const struct workers *workers;
    struct span span;
    struct arena **arenas;
    struct diags *diags;
    enum status *status;
    size_t *short_folders;      /* those that are written side by side */
    struct name_set names_made; /* of the folders, and of those that they are in: k=1, k=1/j=2 */
};

enum status folders_check(const char *path, struct span span, struct diags *diags)
{
    return splayed_check(path, span, diags);
}

static bool same_value(const struct column *column, int64_t a, int64_t b)
{
    const bool missing = column_is_missing(column, a);
    return missing == column_is_missing(column, b) &&
           (missing || column_get_int(column, a) == column_get_int(column, b));
}

/* Adds KEY=VALUE of a row. */
static enum status add_value(const struct saving *saving, size_t k, int64_t row, struct strbuf *out,
                             struct diags *diags)
{
    const struct column *column = saving->relation->columns[k];
    const char *name = saving->relation->names[k];
    char number[LOGICAL_TEXT_BYTES];
    struct text text = {number, 0};
    if (column_is_missing(column, row)) {
        partition_name(out, name, NULL);
        return STATUS_OK;
    }
    const int64_t value = column_get_int(column, row);
    if (column->logical.kind == LOGICAL_TEXT)
        text = dictionary_text(column->logical.dictionary, value);
    else if (column->type == TYPE_BOOL)
        text = value ? (struct text){"true", 4} : (struct text){"false", 5};
    else if (column->logical.kind == LOGICAL_NUMBER)
        text.length = (size_t)snprintf(number, sizeof number, "%lld", (long long)value);
    else
        text.length = (size_t)(logical_text(number, column->logical, value) - number);
    if (text_is(text, PARTITION_MISSING) || memchr(text.at, '\0', text.length) || text.length > 200)
        return diag_error_hint(diags, saving->span, "`derive` a column of other values to save by",
                               "row %lld: the value of `%s` cannot be the name of a folder", (long long)row, name);
    partition_name(out, name, &text);
    return STATUS_OK;
}

static enum status add_folder(struct saving *saving, int64_t begin, int64_t end, struct diags *diags)
{
    struct strbuf name = {0};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < saving->by->count && status == STATUS_OK; i++) {
        strbuf_puts(&name, i > 0 ? "/" : "");
        status = add_value(saving, saving->by->columns[i], begin, &name, diags);
    }
    *ARENA_PUSH(diags->arena, saving->folders, saving->count, saving->capacity) =
        (struct folder){.begin = begin, .end = end, .name = strbuf_take(&name, diags->arena), .writer = {.file = -1}};
    return status;
}

/* Finds the runs of rows with equal values. */
static enum status find_folders(struct saving *saving, struct diags *diags)
{
    const struct relation *relation = saving->relation;
    enum status status = STATUS_OK;
    int64_t begin = 0;
    for (int64_t row = 1; row <= relation->rows && status == STATUS_OK; row++) {
        bool same = row < relation->rows;
        for (size_t i = 0; i < saving->by->count && same; i++)
            same = same_value(relation->columns[saving->by->columns[i]], begin, row);
        if (same)
            continue;
        status = add_folder(saving, begin, row, diags);
        begin = row;
    }
    return status;
}

static void find_kept(struct saving *saving, struct arena *arena)
{
    const struct relation *relation = saving->relation;
    saving->kept = arena_array(arena, relation->count, sizeof *saving->kept);
    saving->names = arena_array(arena, relation->count, sizeof *saving->names);
    for (size_t k = 0; k < relation->count; k++) {
        bool told = false;
        for (size_t i = 0; i < saving->by->count; i++)
            told = told || saving->by->columns[i] == k;
        if (told)
            continue;
        saving->names[saving->kept_count] = relation->names[k];
        saving->kept[saving->kept_count++] = k;
    }
}

/* The column with a dictionary of its own strings, where it has few of those of its dictionary. Takes the column over;
 * NULL: no memory. */
static struct column *with_own_strings(struct column *column)
{
    const struct dictionary *strings = column->logical.dictionary;
    if (column->logical.kind != LOGICAL_TEXT || strings->count < SHORT_DICTIONARY || strings->count / 2 < column->rows)
        return column;
    struct interner *interner = interner_new();
    uint32_t *numbers = heap_array((size_t)column->rows + 1, sizeof *numbers), *map = NULL;
    for (int64_t row = 0; row < column->rows; row++)
        numbers[row] = interner_add(interner, dictionary_text(strings, column_get_int(column, row)));
    struct dictionary *own = dictionary_of_interners(&interner, 1, &map, NULL);
    struct column *short_column = own ? column_of_codes(own, map, numbers, column->rows) : NULL;
    if (short_column && column->validity)
        column_set_validity(short_column, column_ref(column->validity));
    dictionary_unref(own);
    interner_free(interner);
    free(map);
    free(numbers);
    column_unref(column);
    return short_column;
}

/* The rows of a folder without the columns that it tells; NULL: no memory. */
static struct relation *rows_of_folder(const struct saving *saving, const struct folder *folder)
{
    struct arena *arena = arena_new();
    struct row_set rows;
    struct column **columns = arena_array(arena, saving->kept_count + 1, sizeof(struct column *));
    size_t count = 0;
    row_set_init(&rows, arena);
    row_set_add(&rows, folder->begin, folder->end);
    for (bool fine = true; count < saving->kept_count && fine; count += fine) {
        struct column *column = row_set_take(&rows, saving->relation->columns[saving->kept[count]], NULL);
        columns[count] = column ? with_own_strings(column) : NULL;
        fine = columns[count];
    }
    struct relation *relation =
        count == saving->kept_count ? relation_new(rows.rows, count, columns, saving->names) : NULL;
    columns_unref(columns, count);
    arena_free(arena);
    return relation;
}

/* Makes the folders of the path that are not there. */
static bool make_folders(const char *root, struct folder *folder, struct arena *arena)
{
    for (const char *end = folder->name; end; end = *end ? end + 1 : NULL) {
        end += strcspn(end, "/");
        const char *path = arena_printf(arena, "%s/%.*s", root, (int)(end - folder->name), folder->name);
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return false;
        folder->made = true;
    }
    return true;
}

static enum status write_folder(struct saving *saving, struct folder *folder, const struct workers *workers,
                                struct diags *diags)
{
    const struct format_job job = {
        .format = saving->by->format, .workers = workers, .span = saving->span, .diags = diags};
    const char *shown = arena_printf(diags->arena, "%s/%s/%s", saving->shown, folder->name, saving->file);
    if (!make_folders(saving->root, folder, diags->arena))
        return writer_error(shown, errno, saving->span, diags);
    struct relation *relation = rows_of_folder(saving, folder);
    if (!relation)
        return diag_no_memory(diags, saving->span, "not enough memory");
    const char *path = arena_printf(diags->arena, "%s/%s/%s", saving->root, folder->name, saving->file);
    sweep_directory(path_directory(path, diags->arena));
    enum status status = writer_open(&folder->writer, path, saving->span, diags);
    folder->writer.path = shown;
    folder->writer.unsynced = saving->count > FEW_FILES;
    if (status == STATUS_OK)
        status = format_write(&job, relation, &folder->writer);
    relation_unref(relation);
    return status;
}

static void write_part(void *context, int member, int64_t i)
{
    struct saving *saving = context;
    struct workers workers = *saving->workers;
    workers.threads = 1;
    workers.progress = NULL;
    diags_init(&saving->diags[i], saving->arenas[member]);
    saving->status[i] = write_folder(saving, &saving->folders[saving->short_folders[i]], &workers, &saving->diags[i]);
}

/* Writes all files beside their places: long ones by all threads, others side by side. */
static enum status write_all(struct saving *saving, struct diags *diags)
{
    enum status status = STATUS_OK;
    size_t count = 0;
    saving->short_folders = arena_array(diags->arena, saving->count + 1, sizeof *saving->short_folders);
    for (size_t i = 0; i < saving->count && status == STATUS_OK; i++) {
        if (saving->folders[i].end - saving->folders[i].begin >= LONG_ROWS)
            status = write_folder(saving, &saving->folders[i], saving->workers, diags);
        else
            saving->short_folders[count++] = i;
    }
    if (status != STATUS_OK)
        return status;
    saving->diags = arena_array(diags->arena, count + 1, sizeof *saving->diags);
    saving->status = arena_array(diags->arena, count + 1, sizeof *saving->status);
    status = workers_run(saving->workers, (int64_t)count, write_part, saving) ? STATUS_OK : STATUS_CANCELLED;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = saving->status[i];
        for (size_t k = 0; k < saving->diags[i].count && status != STATUS_OK; k++)
            diags_add(diags, &saving->diags[i].at[k]);
    }
    return status;
}

/* Removes folders that were made and are empty. */
static void remove_made(const struct saving *saving, struct arena *arena)
{
    for (size_t i = 0; i < saving->count; i++) {
        const char *path = arena_printf(arena, "%s/%s", saving->root, saving->folders[i].name);
        for (size_t k = 0; k < saving->by->count && saving->folders[i].made; k++) {
            if (rmdir(path) != 0)
                break;
            path = arena_text(arena, path, strlen(path_directory(path, arena)) - 1);
        }
    }
}

/* Writes, and then renames all files to their places. */
static enum status save_below(struct saving *saving, struct diags *diags)
{
    saving->arenas = arena_array(diags->arena, (size_t)saving->workers->threads, sizeof *saving->arenas);
    for (int t = 0; t < saving->workers->threads; t++)
        saving->arenas[t] = arena_new();
    const bool together = saving->count > FEW_FILES;
    enum status status = write_all(saving, diags);
    if (status == STATUS_OK && together && !filesystem_sync(saving->root))
        status = writer_error(saving->shown, errno, saving->span, diags);
    for (size_t i = 0; i < saving->count && status == STATUS_OK; i++)
        status = writer_publish(&saving->folders[i].writer, saving->span, diags);
    if (status == STATUS_OK && together && !filesystem_sync(saving->root))
        status = writer_error(saving->shown, errno, saving->span, diags);
    for (size_t i = 0; i < saving->count; i++)
        writer_discard(&saving->folders[i].writer);
    if (status != STATUS_OK)
        remove_made(saving, diags->arena);
    for (int t = 0; t < saving->workers->threads; t++)
        arena_free(saving->arenas[t]);
    return status;
}

static bool is_left_alone(const char *name)
{
    return name[0] == '.' || name[0] == '_';
}

/* Refuses an existing folder with entries of other names than this, or that begin otherwise: beside them, what is
 * written would be counted twice. */
static enum status check_entries(const struct saving *saving, const char *folder, const char *name, bool begins,
                                 struct diags *diags)
{
    DIR *directory = opendir(folder);
    enum status status = STATUS_OK;
    if (!directory)
        return errno == ENOENT ? STATUS_OK : writer_error(folder, errno, saving->span, diags);
    for (struct dirent *entry; status == STATUS_OK && (entry = readdir(directory));) {
        const char *other = entry->d_name;
        const bool fits = begins ? strncmp(other, name, strlen(name)) == 0 : strcmp(other, name) == 0;
        if (!fits && !is_left_alone(other))
            status = diag_error_hint(diags, saving->span, "save to a new folder, or remove it first",
                                     "`%s` has `%s` in it, which this would stand beside", folder,
                                     path_display(other, diags->arena));
    }
    closedir(directory);
    return status;
}

static const char *below(const char *folder, const char *name, struct arena *arena)
{
    return !*folder ? name : !*name ? folder : arena_printf(arena, "%s/%s", folder, name);
}

/* Refuses a folder that says of this column what one to be written says in another way, as k=01 and k=1. `within`: the
 * part of its path below the directory. */
static enum status check_spelling(const struct saving *saving, const char *folder, const char *within, size_t level,
                                  struct diags *diags)
{
    const size_t k = saving->by->columns[level];
    const struct logical_type type = saving->relation->columns[k]->logical;
    DIR *directory = opendir(folder);
    enum status status = STATUS_OK;
    for (struct dirent *entry; directory && status == STATUS_OK && (entry = readdir(directory));) {
        const char *name = entry->d_name;
        const char *usual =
            is_left_alone(name) ? name : partition_usual_name(name, saving->relation->names[k], type, diags->arena);
        if (strcmp(usual, name) != 0 && name_set_has(&saving->names_made, below(within, usual, diags->arena)))
            status = diag_error_hint(diags, saving->span,
                                     arena_printf(diags->arena, "rename it to `%s`, or save to a new folder", usual),
                                     "`%s` has `%s` in it, whose rows would be there twice beside `%s`", folder,
                                     path_display(name, diags->arena), usual);
    }
    if (directory)
        closedir(directory);
    return status;
}

/* Refuses a folder with other entries than folders of the values of this column, each written as here. */
static enum status check_level(const struct saving *saving, const char *directory, const char *within, size_t level,
                               struct diags *diags)
{
    struct strbuf begin = {0};
    const struct text none = {"", 0};
    const char *folder = below(directory, within, diags->arena);
    partition_name(&begin, saving->relation->names[saving->by->columns[level]], &none);
    const enum status status = check_entries(saving, folder, begin.text, true, diags);
    strbuf_free(&begin);
    return status == STATUS_OK ? check_spelling(saving, folder, within, level, diags) : status;
}

static void find_names(struct saving *saving, struct arena *arena)
{
    name_set_init(&saving->names_made, arena, saving->count * saving->by->count);
    for (size_t i = 0; i < saving->count; i++) {
        for (const char *name = saving->folders[i].name, *end = name; *end; end += *end == '/') {
            end += strcspn(end, "/");
            const char *made = arena_text(arena, name, (size_t)(end - name));
            if (!name_set_has(&saving->names_made, made))
                (void)name_set_add(&saving->names_made, made);
        }
    }
}

static enum status save_into(struct saving *saving, const char *directory, struct diags *diags)
{
    sweep_directory(directory);
    find_names(saving, diags->arena);
    enum status status = check_level(saving, directory, "", 0, diags);
    for (size_t i = 0; i < saving->count && status == STATUS_OK; i++) {
        const char *name = saving->folders[i].name, *end = strchr(name, '/');
        const char *before = i > 0 ? saving->folders[i - 1].name : "";
        for (size_t level = 1; end && status == STATUS_OK; end = strchr(end + 1, '/'), level++) {
            const int length = (int)(end - name);
            if (strncmp(name, before, (size_t)length + 1) != 0) /* folders are in order: each is looked at once */
                status = check_level(saving, directory, arena_text(diags->arena, name, (size_t)length), level, diags);
        }
        if (status == STATUS_OK)
            status =
                check_entries(saving, arena_printf(diags->arena, "%s/%s", directory, name), saving->file, false, diags);
    }
    saving->root = directory;
    return status == STATUS_OK ? save_below(saving, diags) : status;
}

static enum status save_new(struct saving *saving, const char *directory, struct diags *diags)
{
    if (saving->count == 0)
        return diag_error_hint(diags, saving->span, "save to one file, as in `save none.parquet`, or keep more rows",
                               "there are no rows, so that `%s` would have no folders", saving->shown);
    int lock;
    saving->root = directory_beside(directory, &lock, diags->arena);
    if (!saving->root)
        return writer_error(saving->shown, errno, saving->span, diags);
    enum status status = save_below(saving, diags);
    if (status == STATUS_OK && rename(saving->root, directory) != 0)
        status = writer_error(saving->shown, errno, saving->span, diags);
    if (status != STATUS_OK) {
        for (size_t i = 0; i < saving->count; i++)
            unlink(arena_printf(diags->arena, "%s/%s/%s", saving->root, saving->folders[i].name, saving->file));
        remove_made(saving, diags->arena);
    }
    close(lock);
    if (status != STATUS_OK)
        rmdir(saving->root);
    else if (!directory_sync(path_directory(directory, diags->arena)))
        status = writer_error(saving->shown, errno, saving->span, diags);
    return status;
}

enum status save_in_folders(const struct relation *relation, const char *path, const struct save_folders *folders,
                            const struct workers *workers, struct span span, struct diags *diags)
{
    const char *directory = directory_resolve(path, diags->arena);
    struct saving saving = {.by = folders, .shown = directory, .workers = workers, .span = span};
    struct relation *prepared = NULL;
    struct stat info;
    enum status status = folders_check(path, span, diags);
    if (status == STATUS_OK)
        status = save_prepare(relation, span, diags, &prepared);
    if (status != STATUS_OK)
        return status;
    saving.relation = prepared;
    saving.file = arena_printf(diags->arena, "data%s", folders->format->extension);
    find_kept(&saving, diags->arena);
    status = find_folders(&saving, diags);
    if (status == STATUS_OK)
        status =
            stat(directory, &info) == 0 ? save_into(&saving, directory, diags) : save_new(&saving, directory, diags);
    relation_unref(prepared);
    return status;
}
