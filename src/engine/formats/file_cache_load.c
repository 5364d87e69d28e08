/* Loading files into the cache, or finding them there. */
#include "engine/formats/file_cache_entry.h"

#include "base/heap.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "engine/compression/compression.h"
#include "engine/formats/file_list.h"
#include "engine/formats/formats.h"
#include "engine/formats/partition.h"
#include "engine/storage/list_store.h"
#include "engine/storage/pipe_input.h"
#include "engine/storage/program_input.h"
#include "engine/storage/text_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* A file modified this recently may change again without a new time stamp: file system clocks are coarse. */
static const int64_t recent_ns = 50000000;

/* Extensions for the same format, as .bin and .i32, share an entry. */
static bool same_format(const struct format *a, const struct format *b)
{
    return a->read == b->read && a->open == b->open && a->type == b->type && a->columns == b->columns;
}

/* What is stated about a text file, and which of several files are read, as text; NULL: nothing. */
static const char *stated_text(const struct load_options *options, struct arena *arena)
{
    const char *all = text_options_written(options->text, arena);
    if (!*all)
        all = NULL;
    if (options->lists)
        all = arena_printf(arena, "%slisted\n", all ? all : "");
    struct strbuf chosen = {0};
    for (size_t f = 0; options->chosen && f < options->list->count; f++) {
        if (options->chosen[f])
            strbuf_printf(&chosen, "%zu ", f);
    }
    if (chosen.length > 0)
        all = arena_printf(arena, "%sfiles:%s\n", all ? all : "", chosen.text);
    strbuf_free(&chosen);
    return all;
}

/* What a program has printed, or an address has given, for this statement, or else a file that is as it was. */
static struct entry *entry_find(const struct file_cache *file_cache, const char *program, const struct file_stamp *now,
                                const struct format *format, const char *stated)
{
    for (size_t i = 0; i < file_cache->count; i++) {
        struct entry *entry = &file_cache->entries[i];
        const bool fits = format ? entry->file.format && same_format(entry->file.format, format) : entry->by_content;
        if (fits && same_word(entry->stated, stated) &&
            (program ? entry->statement == file_cache->statements && strcmp(entry->path, program) == 0
                     : entry_is_current(entry, now)))
            return entry;
    }
    return NULL;
}

bool file_cache_contains(const struct file_cache *file_cache, const char *path, const struct format *format)
{
    struct file_stamp now;
    return file_stamp_of(path, &now) && entry_find(file_cache, NULL, &now, format, NULL);
}

static bool is_recent(const struct file_stamp *stamp)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const int64_t age = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - stamp->mtime_ns;
    return age > -recent_ns && age < recent_ns;
}

/* A relation of unread columns. */
static struct relation *outline(const struct file_reader *reader)
{
    struct column **columns = heap_array(reader->count + 1, sizeof(struct column *));
    const char **names = heap_array(reader->count + 1, sizeof *names);
    bool made = true;
    for (size_t k = 0; k < reader->count; k++) {
        const struct reader_column *column = &reader->columns[k];
        names[k] = column->name;
        columns[k] = column_unread(column->type, column->logical, reader->rows, column->nullable, reader->provisional);
        made = made && columns[k];
        if (!columns[k])
            continue;
        columns[k]->live = reader->live;
        if (columns[k]->validity)
            columns[k]->validity->live = reader->live;
        columns[k]->packed = column->bytes;
    }
    struct relation *relation = made ? relation_new(reader->rows, reader->count, columns, names) : NULL;
    columns_unref(columns, reader->count);
    free(columns);
    free(names);
    return relation;
}

static enum status unknown_format(const char *path, struct span span, struct diags *diags)
{
    const char *extensions = format_extensions(diags->arena, FORMAT_READ);
    const struct format *format = format_of_path(path);
    const char *advice = format_advice(path, diags->arena), *written = path_written(path, diags->arena);
    const char *word = strstr(path_base(path), "json") ? "json" : "csv";
    path = path_display(path, diags->arena);
    if (format)
        diag_error(diags, span, "`%s` files can be saved, but not loaded", format->extension);
    else if (advice)
        diag_error(diags, span, "the format of `%s` is not supported", path);
    else
        diag_error(diags, span, "cannot tell the format of `%s` from its extension", path);
    if (advice)
        diag_hint(diags, "%s", advice);
    else if (format)
        diag_hint(diags, "extensions that can be loaded: %s", extensions);
    else
        diag_hint(diags, "give the format after the path, as in `load %s %s`, or use one of the extensions %s", written,
                  word, extensions);
    return STATUS_FAILED;
}

static enum status check_format(const char *path, const struct format *stated, struct span span, struct diags *diags)
{
    const struct format *format = stated ? stated : format_of_path(path);
    return format && format_loads(format) ? STATUS_OK : unknown_format(path, span, diags);
}

/* Opens a file, or those of a list. */
static enum status open_any(const struct file_cache *file_cache, const char *path, struct span span,
                            const struct load_options *options, struct opened_file *file, struct diags *diags)
{
    const struct file_list *list = options->list;
    if (!list)
        return open_file(&file_cache->opener, path, span, options, file, diags);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < list->count && status == STATUS_OK; i++)
        status = check_format(list->paths[i], options->format, span, diags);
    if (status == STATUS_OK)
        status = open_appended(&file_cache->opener, options, span, file, diags);
    if (status == STATUS_OK)
        file->stamp = list->stamp;
    return status;
}

/* Takes the file over. */
static enum status entry_add(struct file_cache *file_cache, const char *path, struct span span, struct opened_file file,
                             bool by_content, const char *stated, struct entry **opened, struct diags *diags)
{
    struct relation *unread = file.reader ? outline(file.reader) : NULL;
    if (file.reader && !unread) {
        opened_file_close(&file);
        return diag_no_memory(diags, span, "not enough memory");
    }
    if (unread)
        file.relation = relation_new(unread->rows, unread->count, unread->columns, (const char *const *)unread->names);
    *opened = HEAP_PUSH(file_cache->entries, file_cache->count, file_cache->capacity);
    **opened = (struct entry){.path = heap_text(path),
                              .file = file,
                              .unread = unread,
                              .unsorted = unread ? heap_array(unread->count + 1, sizeof(struct column *)) : NULL,
                              .rows_worth = unread ? heap_array(unread->count + 1, sizeof(int64_t)) : NULL,
                              .by_content = by_content,
                              .stated = stated ? heap_text(stated) : NULL,
                              .recent = is_recent(&file.stamp)};
    return STATUS_OK;
}

/* An address has answered. If its content is that of an entry, that stays, with the columns that it has. */
static struct entry *entry_of_content(struct file_cache *file_cache, struct opened_file *file,
                                      const struct load_options *options, const char *stated)
{
    struct entry *entry = entry_find(file_cache, NULL, &file->stamp, options->format, stated);
    if (entry)
        opened_file_close(file);
    return entry;
}

static enum status entry_open(struct file_cache *file_cache, const char *path, struct span span,
                              const struct load_options *options, const char *stated, struct entry **opened,
                              struct diags *diags)
{
    struct opened_file file;
    enum status status = open_any(file_cache, path, span, options, &file, diags);
    const bool address = !options->list && path_is_address(path);
    *opened = status == STATUS_OK && address ? entry_of_content(file_cache, &file, options, stated) : NULL;
    if (status == STATUS_OK && !*opened)
        status = entry_add(file_cache, path, span, file, !options->format, stated, opened, diags);
    if (status == STATUS_OK)
        (*opened)->several = options->list;
    if (status == STATUS_OK && (address || path_is_program(path)))
        (*opened)->statement = file_cache->statements;
    return status;
}

/* Appends the entry's columns to `loaded`. */
static void add_columns(struct file_cache *file_cache, struct entry *entry, const char *path, struct loaded *loaded,
                        struct arena *arena)
{
    entry->used = ++file_cache->clock;
    const struct relation *relation = entry->file.relation;
    const size_t count = loaded->count + relation->count;
    loaded->types_from_values = entry->file.reader && entry->file.reader->provisional;
    loaded->listed = entry->file.listed;
    for (size_t i = 0; entry->file.reader && i < entry->file.reader->unreadable.count; i++) {
        const struct unreadable_column *column = &entry->file.reader->unreadable.at[i];
        unreadable_add(&loaded->unreadable, arena, column->name, arena_text(arena, column->why, strlen(column->why)));
    }
    loaded->shape = relation->shape; /* only images have one, and they are loaded alone */
    loaded->columns = arena_grow(arena, loaded->columns, loaded->count, count, sizeof *loaded->columns);
    loaded->names = arena_grow(arena, loaded->names, loaded->count, count, sizeof *loaded->names);
    for (size_t i = 0; i < relation->count; i++) {
        const char *name = relation->names[i];
        loaded->columns[loaded->count] = column_ref(relation->columns[i]);
        loaded->names[loaded->count] = *name ? arena_text(arena, name, strlen(name)) : path_stem(path, arena);
        loaded->count++;
    }
}

/* Appends the columns of a file to `loaded`. */
static enum status load_file(struct file_cache *file_cache, const char *path, struct span span,
                             const struct load_options *options, struct loaded *loaded, struct diags *diags)
{
    const char *stated = stated_text(options, diags->arena);
    struct file_stamp now;
    const bool stamped = options->list || file_stamp_of(path, &now);
    struct entry *entry =
        path_is_program(path) || (!options->list && path_is_address(path))
            ? entry_find(file_cache, path, NULL, options->format, stated)
        : stamped ? entry_find(file_cache, NULL, options->list ? &options->list->stamp : &now, options->format, stated)
                  : NULL;
    if (!entry) {
        const enum status status = entry_open(file_cache, path, span, options, stated, &entry, diags);
        if (status != STATUS_OK)
            return status;
    }
    add_columns(file_cache, entry, path, loaded, diags->arena);
    return STATUS_OK;
}

static enum status load_each(struct file_cache *file_cache, const char *path, const char **names, size_t count,
                             struct span span, struct loaded *loaded, struct diags *diags)
{
    const char *slash = path[strlen(path) - 1] == '/' ? "" : "/";
    for (size_t i = 0; i < count; i++) {
        const char *file = arena_printf(diags->arena, "%s%s%s", path, slash, names[i]);
        const struct load_options options = {.format = format_of_path(file)};
        const enum status status = load_file(file_cache, file, span, &options, loaded, diags);
        if (status != STATUS_OK)
            return status;
        if (loaded->columns[i]->rows != loaded->columns[0]->rows)
            return diag_error(diags, span, "the columns of `%s` differ in length: `%s` has %lld rows, `%s` has %lld",
                              path, names[0], (long long)loaded->columns[0]->rows, names[i],
                              (long long)loaded->columns[i]->rows);
    }
    return STATUS_OK;
}

static enum status load_directory(struct file_cache *file_cache, const char *path, struct span span,
                                  const struct format *stated, struct loaded *loaded, struct diags *diags)
{
    if (stated) {
        diag_error(diags, span, "`%s` is a directory: the extensions of its files give their types", path);
        return diag_hint(diags, "omit `%s`, or load a single file", format_word(stated));
    }
    size_t count;
    const char **names = raw_file_names(path, &count, diags->arena);
    return names ? load_each(file_cache, path, names, count, span, loaded, diags)
                 : diag_error(diags, span, "cannot open `%s`: %s", path, strerror(errno));
}

/* Loads a path that stands for several files. */
static enum status load_list(struct file_cache *file_cache, const char *path, struct span span,
                             const struct load_options *options, struct loaded *loaded, struct diags *diags)
{
    struct load_options own = *options;
    struct file_list *list = NULL;
    own.mentioned = NULL;
    if (!own.list) {
        list = arena_alloc(diags->arena, sizeof *list);
        const enum status status = file_list_make(&file_cache->opener, path, own.format, span, list, diags);
        if (status != STATUS_OK)
            return status;
        own.list = list;
    }
    own.lists = own.lists && !own.chosen && own.list->count > 1 && paths_have_keys(own.list->paths, own.list->count);
    loaded->list = own.list;
    return load_file(file_cache, path, span, &own, loaded, diags);
}

enum status file_cache_load(struct file_cache *file_cache, const char *path, struct span span,
                            const struct load_options *options, struct loaded *loaded, struct diags *diags)
{
    *loaded = (struct loaded){0};
    static const struct load_options nothing;
    options = options ? options : &nothing;
    struct load_options resolved = *options;
    struct stat info;
    if (file_cache->opener.no_addresses && strstr(path, "://") && !path_is_program(path))
        return diag_error(diags, span, "%s", file_cache->opener.no_addresses);
    if (path_is_program(path)) {
        resolved.lists = false;
        const enum status ran = file_cache_check(file_cache, path, span, diags) == STATUS_OK
                                    ? load_file(file_cache, path, span, &resolved, loaded, diags)
                                    : STATUS_FAILED;
        if (ran != STATUS_OK)
            loaded_release(loaded);
        return ran;
    }
    const bool table = opener_has_table(&file_cache->opener, path),
               exists = !table && !path_is_address(path) && stat(path, &info) == 0;
    const bool folder = exists && S_ISDIR(info.st_mode);
    enum status status = STATUS_OK;
    if (!table)
        resolved.format = resolved.format ? resolved.format : format_of_path(path_of_file(path, diags->arena));
    const bool address = path_is_address(path);
    if (!table && !exists && !address && !resolved.format)
        resolved.format = format_of_type(TYPE_I32); /* a missing file is reported as such, whatever its extension */
    if (options->list || (!table && path_is_pattern(path)) || ((folder || address) && path_is_folder(path))) {
        resolved.format = options->format;
        status = load_list(file_cache, path, span, &resolved, loaded, diags);
    } else if (folder) {
        status = load_directory(file_cache, path, span, options->format, loaded, diags);
    } else {
        resolved.lists = false;
        if (exists && strcmp(path, PATH_STDIN) != 0)
            status = check_format(path, options->format, span, diags);
        if (status == STATUS_OK)
            status = load_file(file_cache, path, span, &resolved, loaded, diags);
    }
    if (status != STATUS_OK)
        loaded_release(loaded);
    return status;
}

bool file_cache_peek(const struct file_cache *file_cache, const char *path, const struct format *format,
                     struct arena *arena, const struct reader_column **columns, size_t *count)
{
    static const struct text_options head = {.head = true};
    struct load_options options = {.format = format, .text = &head};
    struct opened_file file;
    struct stat info;
    struct diags diags;
    const struct table_source *tables = file_cache->opener.tables;
    diags_init(&diags, arena);
    if (opener_has_table(&file_cache->opener, path))
        return tables->peek(tables->servers, path, arena, columns, count);
    if (path_is_address(path))
        return false;
    struct file_list list;
    if (path_is_pattern(path) || path_is_folder(path)) { /* of which the first is looked at */
        if (file_list_make(&file_cache->opener, path, format, (struct span){0}, &list, &diags) != STATUS_OK)
            return false;
        options.lists = true;
        options.list = &list;
        format = options.format ? options.format : format_of_path(list.paths[0]);
    } else if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) {
        return false;
    }
    if (!format || !format->open || compression_of_path(options.list ? list.paths[0] : path) ||
        open_any(file_cache, path, (struct span){0}, &options, &file, &diags) != STATUS_OK)
        return false;
    struct reader_column *copies = arena_array(arena, file.reader->count + 1, sizeof *copies);
    for (size_t k = 0; k < file.reader->count; k++) {
        copies[k] = file.reader->columns[k];
        copies[k].name = arena_text(arena, copies[k].name, strlen(copies[k].name));
        list_store_ref(copies[k].logical.lists);
    }
    *columns = copies;
    *count = file.reader->count;
    opened_file_close(&file);
    return true;
}

void loaded_release(struct loaded *loaded)
{
    columns_unref(loaded->columns, loaded->count);
    *loaded = (struct loaded){0};
}

enum status file_cache_adopt(struct file_cache *file_cache, struct file_reader *reader, const char *name,
                             struct span span, struct loaded *loaded, struct diags *diags)
{
    struct entry *entry;
    const struct opened_file file = {.reader = reader};
    const enum status status = entry_add(file_cache, name, span, file, false, NULL, &entry, diags);
    if (status == STATUS_OK)
        add_columns(file_cache, entry, name, loaded, diags->arena);
    return status;
}
