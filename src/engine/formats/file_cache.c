#include "engine/formats/file_cache.h"

#include "base/buffer_pool.h"
#include "base/heap.h"
#include "base/path.h"
#include "engine/formats/file_cache_entry.h"
#include "engine/remote/remote.h"
#include "engine/storage/file_errors.h"
#include "engine/storage/pipe_input.h"
#include "engine/storage/program_input.h"

#include <stdlib.h>

/* Maximum number of files that only the cache refers to. */
enum { MAX_IDLE = 64 };

struct file_cache *file_cache_new(struct mappings *mappings, const atomic_int *cancel)
{
    struct file_cache *file_cache = heap_array(1, sizeof *file_cache);
    file_cache->opener.mappings = mappings;
    file_cache->opener.pipes = pipes_new();
    file_cache->opener.remote = remote_new();
    file_cache->statements = 1;
    file_cache->limit = INT64_MAX;
    file_cache->opener.cancel = cancel;
    file_cache->opener.thread_pool = thread_pool_new(parallel_threads());
    return file_cache;
}

void file_cache_set_progress(struct file_cache *file_cache, struct progress *progress)
{
    file_cache->opener.progress = progress;
}

void file_cache_set_pool(struct file_cache *file_cache, struct buffer_pool *pool)
{
    file_cache->opener.pool = buffer_pool_ref(pool);
}

void file_cache_set_tables(struct file_cache *file_cache, const struct table_source *tables)
{
    file_cache->opener.tables = tables;
}

const struct table_source *file_cache_tables(const struct file_cache *file_cache)
{
    return file_cache->opener.tables;
}

struct remote *file_cache_remote(const struct file_cache *file_cache)
{
    return file_cache->opener.remote;
}

void file_cache_reserve_stdin(struct file_cache *file_cache)
{
    pipes_reserve_stdin(file_cache->opener.pipes);
}

void file_cache_refuse(struct file_cache *file_cache, const char *programs, const char *addresses)
{
    file_cache->opener.no_programs = programs;
    file_cache->opener.no_addresses = addresses;
}

enum status file_cache_check(const struct file_cache *file_cache, const char *path, struct span span,
                             struct diags *diags)
{
    const char *reason = path_is_program(path) ? file_cache->opener.no_programs : NULL;
    if (reason)
        return diag_error_hint(diags, span, "`./|NAME` is a file of such a name", "%s", reason);
    return pipes_reject(file_cache->opener.pipes, path, span, diags) ? STATUS_FAILED : STATUS_OK;
}

static void entry_release(struct entry *entry)
{
    for (size_t k = 0; entry->unsorted && k < entry->unread->count; k++)
        column_unref(entry->unsorted[k]);
    free((void *)entry->unsorted);
    kept_rows_free(&entry->kept, entry->unread ? entry->unread->count : 0);
    opened_file_close(&entry->file);
    relation_unref(entry->unread);
    free(entry->rows_worth);
    free(entry->stated);
    free(entry->path);
}

const atomic_int *file_cache_cancel(const struct file_cache *file_cache)
{
    return file_cache->opener.cancel;
}

void file_cache_free(struct file_cache *file_cache)
{
    if (!file_cache)
        return;
    for (size_t i = 0; i < file_cache->count; i++)
        entry_release(&file_cache->entries[i]);
    pipes_free(file_cache->opener.pipes);
    remote_free(file_cache->opener.remote);
    thread_pool_free(file_cache->opener.thread_pool);
    buffer_pool_unref(file_cache->opener.pool);
    free(file_cache->entries);
    free(file_cache);
}

static void entry_remove(struct file_cache *file_cache, size_t i)
{
    entry_release(&file_cache->entries[i]);
    file_cache->entries[i] = file_cache->entries[--file_cache->count];
}

/* Whether the file changed while mapped, even if its stamp is the same again: parts of it may read as zeroes. */
static bool mapping_is_invalid(const struct entry *entry)
{
    return (entry->file.mapping && mapping_changed(entry->file.mapping)) ||
           changed_column(entry->file.relation->columns, entry->file.relation->count);
}

bool entry_is_current(const struct entry *entry, const struct file_stamp *now)
{
    const struct file_stamp *then = &entry->file.stamp;
    return !entry->recent && then->device == now->device && then->inode == now->inode && then->size == now->size &&
           then->mtime_ns == now->mtime_ns && !mapping_is_invalid(entry);
}

/* Whether only the cache and device copies refer to the entry's columns. */
static bool is_idle(const struct entry *entry)
{
    for (size_t i = 0; i < entry->file.relation->count; i++) {
        const struct column *column = entry->file.relation->columns[i];
        const struct column *unread = entry->unread ? entry->unread->columns[i] : NULL;
        if (column->refs > column->copies + 1 + (column == unread) || (unread && unread->refs > 1 + (column == unread)))
            return false;
    }
    return true;
}

/* Whether something beside the cache refers to columns that are unread, which only the entry's reader can read. */
static bool is_awaited(const struct entry *entry)
{
    for (size_t i = 0; entry->unread && i < entry->unread->count; i++) {
        const struct column *unread = entry->unread->columns[i];
        if (unread->refs > 1 + (unread == entry->file.relation->columns[i]))
            return true;
    }
    return false;
}

/* Whether several files have is found when they are loaded again: listing them takes long; so is it of addresses.
 * What a program prints is only for one statement. */
static bool has_changed(const struct entry *entry)
{
    struct file_stamp now = entry->file.stamp;
    if (path_is_address(entry->path))
        return !entry_is_current(entry, &now);
    return entry->statement > 0 || (!entry->several && !file_stamp_of(entry->path, &now)) ||
           !entry_is_current(entry, &now);
}

void file_cache_sweep(struct file_cache *file_cache)
{
    const struct table_source *tables = file_cache_tables(file_cache);
    size_t idle = 0;
    file_cache->statements++;
    if (tables && tables->forget)
        tables->forget(tables->servers);
    for (size_t i = file_cache->count; i-- > 0;) {
        if (has_changed(&file_cache->entries[i]) && !is_awaited(&file_cache->entries[i]))
            entry_remove(file_cache, i);
        else if (is_idle(&file_cache->entries[i]))
            idle++;
    }
    for (; idle > MAX_IDLE; idle--) {
        size_t oldest = file_cache->count;
        for (size_t i = 0; i < file_cache->count; i++) {
            const struct entry *entry = &file_cache->entries[i];
            if (is_idle(entry) && (oldest == file_cache->count || entry->used < file_cache->entries[oldest].used))
                oldest = i;
        }
        entry_remove(file_cache, oldest);
    }
    file_cache_shrink(file_cache, file_cache->limit);
}
