/* Reading columns of open files. */
#include "engine/formats/file_cache_entry.h"
#include "engine/storage/unsorted_column.h"

#include <string.h>

/* The place of what stands for a column of the entry; their number, if it stands for none. The search begins at `from`,
 * since mostly columns come in their order. */
static size_t place_of(const struct entry *entry, const struct column *unread, size_t from)
{
    const size_t count = entry->unread->count;
    for (size_t i = 0; i < count; i++) {
        const size_t k = from + i < count ? from + i : from + i - count;
        if (entry->unread->columns[k] == unread)
            return k;
    }
    return count;
}

/* Replaces those of `columns` that stand for columns of the entry by those of `by`, where it has some. */
static void replace(const struct entry *entry, struct column **columns, size_t count, struct column *const *by)
{
    size_t next = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t k = columns[i]->unread ? place_of(entry, columns[i], next) : entry->unread->count;
        if (k == entry->unread->count)
            continue;
        next = k + 1;
        if (by[k] && by[k] != columns[i]) {
            column_unref(columns[i]);
            columns[i] = column_ref(by[k]);
        }
    }
}

/* Fewer are sorted in no time, and then serve all statements. */
enum { MANY_STRINGS = 1 << 16 };

/* Columns to be read, and how. */
struct request {
    struct column **columns;
    size_t count;
    int64_t head, tail;         /* only the rows at both ends; -1: whole columns */
    bool unsorted;              /* text may have unsorted dictionaries */
    const struct row_set *rows; /* only these; NULL: all */
    struct span span;
    struct diags *diags;
};

/* What is read of a file: some of its columns, whole or only the rows at both ends. */
struct reading {
    bool *wanted;            /* of each column of the file */
    struct column **columns; /* those read */
    bool whole;
    bool kept;                 /* for the next statements */
    _Atomic int64_t *unpacked; /* as of struct format_job */
};

/* Marks the columns of the entry for which columns of the request stand, but for those of `relation` that are read.
 * Returns whether there are any. */
static bool mark_requested(const struct entry *entry, const struct relation *relation, const struct request *request,
                           struct reading *reading)
{
    bool any = false;
    size_t next = 0;
    for (size_t i = 0; i < request->count; i++) {
        const struct column *column = request->columns[i];
        const size_t k = column->unread ? place_of(entry, column, next) : relation->count;
        next = k < relation->count ? k + 1 : next;
        if (k < relation->count && relation->columns[k]->unread)
            any = reading->wanted[k] = true;
    }
    return any;
}

static enum status tell_lost(const struct entry *entry, const struct request *request)
{
    return diag_error_hint(request->diags, request->span,
                           "load it again. Replacing a file by renaming a new one over it is safe",
                           "`%s` was truncated or rewritten since it was loaded: its unread columns are lost",
                           mapping_path(entry->file.mapping));
}

static bool left_out_is_wanted(const struct file_reader *reader, const struct reading *reading)
{
    bool any = false;
    for (size_t k = 0; k < reader->count && !any; k++)
        any = reading->wanted[k] && reader->columns[k].left_out;
    return any;
}

/* Opens the entry's file again, all of it. */
static enum status open_again(struct file_cache *file_cache, struct entry *entry, const struct request *request)
{
    struct opened_file *file = &entry->file, whole;
    const struct load_options options = {.format = file->format};
    const enum status status =
        open_file(&file_cache->opener, entry->path, request->span, &options, &whole, request->diags);
    if (status != STATUS_OK)
        return status;
    if (memcmp(&whole.stamp, &file->stamp, sizeof whole.stamp) != 0 || whole.reader->count != file->reader->count) {
        opened_file_close(&whole);
        return tell_lost(entry, request);
    }
    whole.relation = file->relation;
    file->relation = NULL;
    opened_file_close(file);
    *file = whole;
    return STATUS_OK;
}

/* Reads the wanted columns of the entry. */
static enum status entry_read(struct file_cache *file_cache, struct entry *entry, const struct reading *reading,
                              const struct request *request)
{
    struct diags *diags = request->diags;
    if (entry->file.mapping && mapping_changed(entry->file.mapping))
        return tell_lost(entry, request);
    const enum status opened =
        left_out_is_wanted(entry->file.reader, reading) ? open_again(file_cache, entry, request) : STATUS_OK;
    if (opened != STATUS_OK)
        return opened;
    struct workers workers = opener_workers(&file_cache->opener, entry->path, diags->arena);
    workers.whole.bytes = entry->file.mapping ? (int64_t)mapping_length(entry->file.mapping) : 0;
    const struct format_job job = {.format = entry->file.format,
                                   .workers = &workers,
                                   .span = request->span,
                                   .diags = diags,
                                   .unsorted_from = request->unsorted ? request->rows ? 1 : MANY_STRINGS : 0,
                                   .unpacked = reading->unpacked};
    struct file_reader *reader = entry->file.reader;
    if (request->rows)
        return reader->ops->read_rows(reader, &job, reading->wanted, request->rows, reading->columns);
    if (!reading->whole)
        return reader->ops->read_ends(reader, &job, reading->wanted, request->head, request->tail, reading->columns);
    return entry->file.mapping
               ? format_read_columns(&job, entry->file.mapping, reader, reading->wanted, reading->columns)
               : reader->ops->read(reader, &job, reading->wanted, reading->columns);
}

/* Whether reading only the rows at both ends is worth it, and possible. */
static bool can_read_ends(const struct entry *entry, const struct request *request)
{
    enum { LONG_ROWS = 1 << 17 };
    const struct file_reader *reader = entry->file.reader;
    return reader->ops->read_ends && reader->rows > LONG_ROWS && request->head >= 0 && request->head < LONG_ROWS &&
           request->tail < LONG_ROWS;
}

/* Replaces what stands for the columns that have been read, which are not kept. */
static void replace_read(const struct entry *entry, const struct reading *reading, const struct request *request)
{
    replace(entry, request->columns, request->count, reading->columns);
    for (size_t k = 0; k < entry->unread->count; k++) {
        if (reading->wanted[k])
            column_unref(reading->columns[k]);
    }
}

/* Keeps a column that has been read whole. One with a sorted dictionary takes the place of the unsorted one. */
static void keep(struct entry *entry, size_t k, struct column *column)
{
    column_unref(entry->unsorted[k]);
    entry->unsorted[k] = NULL;
    if (column_is_unsorted(column)) {
        entry->unsorted[k] = column;
        return;
    }
    column_unref(entry->file.relation->columns[k]);
    entry->file.relation->columns[k] = column;
}

enum status file_cache_order(const struct file_cache *file_cache, struct column **column, struct span span,
                             struct diags *diags)
{
    const struct workers workers = opener_workers(&file_cache->opener, "", diags->arena);
    struct column *ordered = unsorted_in_order(*column, &workers);
    if (!ordered)
        return workers_cancelled(&workers) ? STATUS_CANCELLED : diag_no_memory(diags, span, "not enough memory");
    column_unref(*column);
    *column = ordered;
    return STATUS_OK;
}

/* Puts the wanted columns in order that were read without one, so that they need not be read again. Sets *more to
 * whether others are wanted. */
static enum status order_read(const struct file_cache *file_cache, struct entry *entry, const struct request *request,
                              struct reading *reading, bool *more)
{
    enum status status = STATUS_OK;
    *more = false;
    for (size_t k = 0; k < entry->unread->count && status == STATUS_OK; k++) {
        if (reading->wanted[k] && reading->whole && !request->unsorted && entry->unsorted[k]) {
            struct column *column = column_ref(entry->unsorted[k]);
            status = file_cache_order(file_cache, &column, request->span, request->diags);
            if (status == STATUS_OK)
                keep(entry, k, column);
            else
                column_unref(column);
            reading->wanted[k] = false;
        }
        *more = *more || reading->wanted[k];
    }
    return status;
}

/* Text that was read for the first time may turn out to have another number of rows. */
static void set_rows(struct entry *entry, int64_t rows)
{
    struct relation *unread = entry->unread;
    for (size_t k = 0; k < unread->count; k++) {
        unread->columns[k]->rows = rows;
        if (unread->columns[k]->validity)
            unread->columns[k]->validity->rows = rows;
    }
    unread->rows = entry->file.relation->rows = rows;
}

/* Reads those of the entry's columns that are unread and for which some of the request's stand; replaces these. */
static enum status entry_read_for(struct file_cache *file_cache, struct entry *entry, const struct request *request)
{
    struct relation *relation = entry->file.relation;
    struct arena *arena = request->diags->arena;
    struct reading reading = {.wanted = arena_array(arena, relation->count + 1, sizeof *reading.wanted),
                              .columns = arena_array(arena, relation->count + 1, sizeof(struct column *)),
                              .whole = !can_read_ends(entry, request)};
    reading.kept = reading.whole && !entry->file.reader->live;
    if (request->unsorted)
        replace(entry, request->columns, request->count, entry->unsorted);
    bool more = mark_requested(entry, relation, request, &reading);
    enum status status = more ? order_read(file_cache, entry, request, &reading, &more) : STATUS_OK;
    if (status == STATUS_OK && more)
        status = entry_read(file_cache, entry, &reading, request);
    if (status != STATUS_OK)
        return status;
    if (entry->file.reader->rows != relation->rows)
        set_rows(entry, entry->file.reader->rows);
    for (size_t k = 0; k < relation->count && reading.kept; k++) {
        if (reading.wanted[k])
            keep(entry, k, reading.columns[k]);
    }
    replace(entry, request->columns, request->count, relation->columns);
    if (request->unsorted)
        replace(entry, request->columns, request->count, entry->unsorted);
    if (!reading.kept)
        replace_read(entry, &reading, request);
    return STATUS_OK;
}

/* The entry with the unread column, which is its column *k. */
static struct entry *entry_of(const struct file_cache *file_cache, const struct column *unread, size_t *k)
{
    for (size_t i = 0; i < file_cache->count; i++) {
        struct entry *entry = &file_cache->entries[i];
        for (*k = 0; entry->unread && *k < entry->unread->count; ++*k) {
            if (entry->unread->columns[*k] == unread)
                return entry;
        }
    }
    return NULL;
}

const struct file_reader *file_cache_reader(const struct file_cache *file_cache, const struct column *unread, size_t *k)
{
    const struct entry *entry = entry_of(file_cache, unread, k);
    return entry ? entry->file.reader : NULL;
}

const struct file_reader *file_cache_reader_of_validity(const struct file_cache *file_cache,
                                                        const struct column *validity, size_t *k)
{
    for (size_t i = 0; i < file_cache->count; i++) {
        const struct entry *entry = &file_cache->entries[i];
        for (*k = 0; entry->unread && *k < entry->unread->count; ++*k) {
            if (entry->unread->columns[*k]->validity == validity)
                return entry->file.reader;
        }
    }
    return NULL;
}

enum status file_cache_count(struct file_cache *file_cache, const struct column *unread, struct span span,
                             struct diags *diags)
{
    size_t k;
    struct entry *entry = entry_of(file_cache, unread, &k);
    struct file_reader *reader = entry ? entry->file.reader : NULL;
    if (!reader || !reader->ops->count)
        return STATUS_UNABLE;
    const struct workers workers = opener_workers(&file_cache->opener, entry->path, diags->arena);
    const struct format_job job = {.workers = &workers, .span = span, .diags = diags};
    const enum status status = reader->ops->count(reader, &job);
    if (status == STATUS_OK)
        set_rows(entry, reader->rows);
    return status;
}

/* Numbers, and what indices of few strings are, are mostly decompressed, then converted; of strings one by one only
 * those of some rows are interned. */
int64_t file_cache_rows_worth(const struct column *unread, int64_t unpacked, int64_t rows)
{
    enum { EIGHTHS = 8 };
    const int64_t of_unpacking = file_cache_is_slow(unread) ? 1 : 6;
    return (of_unpacking * unpacked + (EIGHTHS - of_unpacking) * rows) / EIGHTHS;
}

bool file_cache_spares(const struct file_cache *file_cache, const struct column *unread, int64_t rows)
{
    size_t k;
    const struct entry *entry = entry_of(file_cache, unread, &k);
    return entry && entry->rows_worth[k] + rows <= unread->rows;
}

/* Takes the wanted columns that have been read of these rows; they are no longer wanted. Returns whether others are. */
static bool take_kept(const struct kept_rows *kept, struct reading *reading, size_t width)
{
    bool more = false;
    for (size_t k = 0; k < width; k++) {
        if (!reading->wanted[k])
            continue;
        reading->columns[k] = kept->columns[k];
        reading->wanted[k] = !kept->columns[k];
        more = more || reading->wanted[k];
    }
    return more;
}

/* Reads the request's rows of the entry's columns for which some of its columns stand; replaces these. */
static enum status entry_read_rows(struct file_cache *file_cache, struct entry *entry, const struct request *request)
{
    struct arena *arena = request->diags->arena;
    const size_t width = entry->unread->count;
    struct reading reading = {.wanted = arena_array(arena, width + 1, sizeof *reading.wanted),
                              .columns = arena_array(arena, width + 1, sizeof(struct column *))};
    _Atomic int64_t unpacked = 0;
    reading.unpacked = &unpacked;
    if (!mark_requested(entry, entry->unread, request, &reading))
        return STATUS_OK;
    struct kept_rows *kept = kept_rows_of(&entry->kept, request->rows, width, file_cache->statements);
    const enum status status =
        take_kept(kept, &reading, width) ? entry_read(file_cache, entry, &reading, request) : STATUS_OK;
    if (status != STATUS_OK)
        return status;
    for (size_t k = 0; k < width; k++) {
        if (!reading.wanted[k])
            continue;
        entry->rows_worth[k] += file_cache_rows_worth(entry->unread->columns[k],
                                                      max_int64(unpacked, request->rows->rows), request->rows->rows);
        kept->columns[k] = reading.columns[k];
    }
    replace(entry, request->columns, request->count, reading.columns);
    return STATUS_OK;
}

enum status file_cache_read_rows(struct file_cache *file_cache, struct column **columns, size_t count,
                                 const struct row_set *rows, struct span span, struct diags *diags)
{
    const struct request request = {.columns = columns, .count = count, .rows = rows, .span = span, .diags = diags};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < file_cache->count && status == STATUS_OK; i++) {
        if (file_cache->entries[i].unread)
            status = entry_read_rows(file_cache, &file_cache->entries[i], &request);
    }
    return status;
}

enum status file_cache_read_batch(struct file_cache *file_cache, const struct column *unread,
                                  const struct row_set *rows, struct span span, struct diags *diags,
                                  struct column **column)
{
    size_t k;
    struct entry *entry = entry_of(file_cache, unread, &k);
    const size_t width = entry->unread->count;
    const struct request request = {.rows = rows, .unsorted = true, .span = span, .diags = diags};
    struct reading reading = {.wanted = arena_array(diags->arena, width + 1, sizeof *reading.wanted),
                              .columns = arena_array(diags->arena, width + 1, sizeof(struct column *))};
    reading.wanted[k] = true;
    const enum status status = entry_read(file_cache, entry, &reading, &request);
    if (status != STATUS_OK)
        return status;
    *column = reading.columns[k];
    return STATUS_OK;
}

void file_cache_renew(const struct file_cache *file_cache, struct column **columns, size_t count)
{
    for (size_t i = 0; i < file_cache->count; i++) {
        if (file_cache->entries[i].file.reader)
            replace(&file_cache->entries[i], columns, count, file_cache->entries[i].file.relation->columns);
    }
}

static enum status read_for(struct file_cache *file_cache, const struct request *request)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < file_cache->count && status == STATUS_OK; i++) {
        struct entry *entry = &file_cache->entries[i];
        if (entry->file.reader)
            status = entry_read_for(file_cache, entry, request);
    }
    return status;
}

enum status file_cache_read(struct file_cache *file_cache, struct column **columns, size_t count, struct span span,
                            struct diags *diags)
{
    const struct request request = {.columns = columns, .count = count, .head = -1, .span = span, .diags = diags};
    return read_for(file_cache, &request);
}

enum status file_cache_read_unsorted(struct file_cache *file_cache, struct column **columns, size_t count,
                                     struct span span, struct diags *diags)
{
    const struct request request = {
        .columns = columns, .count = count, .head = -1, .unsorted = true, .span = span, .diags = diags};
    return read_for(file_cache, &request);
}

enum status file_cache_read_ends(struct file_cache *file_cache, struct column **columns, size_t count, int64_t head,
                                 int64_t tail, struct span span, struct diags *diags)
{
    const struct request request = {
        .columns = columns, .count = count, .head = head, .tail = tail, .span = span, .diags = diags};
    return read_for(file_cache, &request);
}

struct file_reader *file_cache_lower(const struct file_cache *file_cache, const struct queue *queue,
                                     const struct table_columns *from, const char **refusal)
{
    return file_cache->opener.tables->lower(queue, from, refusal);
}

enum status file_cache_value(const struct file_cache *file_cache, struct file_reader *reader, struct span span,
                             struct scalar *value, struct diags *diags)
{
    const struct workers workers = opener_workers(&file_cache->opener, "", diags->arena);
    const struct format_job job = {.workers = &workers, .span = span, .diags = diags};
    return reader->ops->value(reader, &job, value);
}
