/* Columns of sources: which have to be read before a pipeline runs, and reading them. */
#include "engine/env/sources.h"

#include "engine/formats/file_cache.h"
#include "engine/storage/file_reader.h"

#include <string.h>

struct source_column source_column(const struct sources *sources, const char *name, struct column *column)
{
    struct source_column source = {.name = name, .type = column->type, .logical = column->logical, .column = column};
    if (sources->checking)
        source.logical.dictionary = NULL;
    return source;
}

/* Whether something needs the order of the column's strings. */
static bool is_ordered(const struct column *column, const struct needed_columns *needed)
{
    bool ordered = false;
    for (size_t i = 0; i < needed->count && !ordered; i++)
        ordered = needed->at[i].column == column && needed->at[i].ordered;
    return ordered;
}

/* Whether the column has to be read first. The search begins at *next, since columns mostly come in their order. */
static bool is_lacking(const struct column *column, const struct needed_columns *needed, size_t *next)
{
    if (!column || !column->unread)
        return column && column_is_unsorted(column) && is_ordered(column, needed);
    for (size_t i = 0; i < needed->count; i++) {
        const size_t k = *next + i < needed->count ? *next + i : *next + i - needed->count;
        if (needed->at[k].column == column || needed->at[k].column == column->validity) {
            *next = k;
            return true;
        }
    }
    return !needed->at && column->provisional;
}

/* Lists the columns of a file that have to be read first, at most file->count; returns their number. A text file of
 * which nothing is read is not known to be well formed, nor how many rows it has, and neither is the number of rows of
 * an outdated table: then the first column is. */
size_t source_lacks(const struct source_file *file, const struct needed_columns *needed, size_t *places)
{
    size_t found = 0, unread = 0, next = 0;
    for (size_t i = 0; i < file->count; i++) {
        const struct column *column = file->columns[i].column;
        unread += column && (column->provisional || (column->live && file->outdated && !needed->kept));
        if (is_lacking(column, needed, &next))
            places[found++] = i;
    }
    if (found == 0 && file->count > 0 && unread == file->count)
        places[found++] = 0;
    if (found > 0 && needed->at_once && file->columns[places[0]].column->live) {
        for (found = 0; found < file->count; found++)
            places[found] = found;
    }
    return found;
}

const struct unreadable_column *sources_unreadable(const struct sources *sources, const char *name)
{
    for (size_t i = 0; i < sources->count; i++) {
        const struct unreadable_columns *unreadable = &sources->files[i].unreadable;
        for (size_t k = 0; k < unreadable->count; k++) {
            if (strcmp(unreadable->at[k].name, name) == 0)
                return &unreadable->at[k];
        }
    }
    return NULL;
}

/* Tells of columns that cannot be read if all others are needed. */
static void tell_unreadable(const struct source_file *file, const struct needed_columns *needed, struct diags *diags)
{
    size_t next = 0, count = 0;
    for (size_t i = 0; i < file->count && file->unreadable.count > 0; i++)
        count += is_lacking(file->columns[i].column, needed, &next);
    if (count == file->count)
        unreadable_tell(&file->unreadable, file->path.text, diags);
}

enum status sources_count(struct sources *sources, const struct env *env, bool *counted, struct diags *diags)
{
    enum status status = STATUS_OK;
    *counted = false;
    for (size_t i = 0; i < sources->count && status == STATUS_OK; i++) {
        struct source_file *file = &sources->files[i];
        const struct column *column = file->count > 0 ? file->columns[0].column : NULL;
        if (!file->outdated || !column || !column->unread || !column->live)
            continue;
        status = file_cache_count(env->file_cache, column, file->path.span, diags);
        file->outdated = status == STATUS_UNABLE;
        *counted = *counted || status == STATUS_OK;
        status = status == STATUS_UNABLE ? STATUS_OK : status;
    }
    return status;
}

bool sources_unread(const struct sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        for (size_t k = 0; k < sources->files[i].count; k++) {
            const struct column *column = sources->files[i].columns[k].column;
            if (column && (column->unread || column_is_unsorted(column)))
                return true;
        }
    }
    return false;
}

bool sources_lack(const struct sources *sources, const struct needed_columns *needed, struct arena *arena)
{
    bool lack = false;
    for (size_t i = 0; i < sources->count && !lack; i++) {
        const struct source_file *file = &sources->files[i];
        size_t *places = arena_array(arena, file->count + 1, sizeof *places);
        lack = source_lacks(file, needed, places) > 0;
    }
    return lack;
}

/* Has other places of the tree that name the same table read the same rows. */
static void share_live(struct sources *sources, const struct column *unread, struct column *read)
{
    for (size_t i = 0; i < sources->count; i++) {
        struct source_file *file = &sources->files[i];
        for (size_t k = 0; k < file->count; k++) {
            struct source_column *column = &file->columns[k];
            if (column->column != unread)
                continue;
            column_unref(column->column);
            *column = source_column(sources, column->name, column_ref(read));
        }
    }
}

static void release_column(void *column)
{
    column_unref(column);
}

/* The column, which has an unsorted dictionary and is of no file, with a sorted one, which is kept. */
static enum status in_order(const struct env *env, struct column *column, struct span span, struct diags *diags,
                            struct column **ordered)
{
    static const char how[] = "in order";
    const struct kept_key key = {.columns = &column, .count = 1, .how = how, .how_size = sizeof how};
    struct column *kept = kept_find(env->kept, &key);
    *ordered = column_ref(kept ? kept : column);
    if (kept)
        return STATUS_OK;
    const enum status status = file_cache_order(env->file_cache, ordered, span, diags);
    if (status != STATUS_OK)
        column_unref(*ordered);
    else
        kept_add(env->kept, &key, column_ref(*ordered), release_column,
                 kept_bytes(*ordered) + dictionary_size((*ordered)->logical.dictionary));
    return status;
}

/* Whether it is of a relation that was computed. */
static bool is_computed(const struct source_file *file, const struct source_column *column)
{
    return !file->rows && !column->unread && column_is_unsorted(column->column);
}

/* Puts such a column in order. */
static enum status order_computed(const struct sources *sources, const struct source_file *file,
                                  struct source_column *column, const struct env *env, struct diags *diags)
{
    struct column *ordered;
    const enum status status = in_order(env, column->column, file->path.span, diags, &ordered);
    if (status != STATUS_OK)
        return status;
    column_unref(column->column);
    *column = source_column(sources, column->name, ordered);
    return STATUS_OK;
}

/* Reads the file's columns at these places, and sets them. */
static enum status read_places(struct sources *sources, struct source_file *file, const struct env *env, size_t *places,
                               size_t found, bool unsorted, struct diags *diags)
{
    if (file->rows)
        return source_read_rows(sources, file, env, places, found, unsorted, diags);
    struct column **columns = arena_array(diags->arena, found + 1, sizeof(struct column *));
    struct column **unread = arena_array(diags->arena, found + 1, sizeof(struct column *));
    for (size_t i = 0; i < found; i++) {
        struct source_column *column = &file->columns[places[i]];
        columns[i] = column->unread ? column->unread : column->column;
        unread[i] = column_ref(columns[i]);
        if (column->unread)
            column_unref(column->column);
        column->unread = NULL;
    }
    const enum status status = unsorted
                                   ? file_cache_read_unsorted(env->file_cache, columns, found, file->path.span, diags)
                                   : file_cache_read(env->file_cache, columns, found, file->path.span, diags);
    for (size_t i = 0; i < found; i++) {
        struct source_column *column = &file->columns[places[i]];
        *column = source_column(sources, column->name, columns[i]);
        if (column_is_unsorted(columns[i]))
            column->unread = column_ref(unread[i]);
    }
    for (size_t i = 0; i < found; i++) {
        if (unread[i]->live && !columns[i]->live)
            share_live(sources, unread[i], columns[i]);
        column_unref(unread[i]);
    }
    return status;
}

/* Columns of a table that may change have to be read at once: two readings may show other rows. */
static enum status check_live(const struct source_file *file, const size_t *places, struct diags *diags)
{
    if (!file->columns[places[0]].column->live)
        return STATUS_OK;
    for (size_t i = 0; i < file->count; i++) {
        if (!file->columns[i].column->unread)
            return diag_error(diags, file->path.span, "`%s` would have to be read twice, and may change in between",
                              file->path.text);
    }
    return STATUS_OK;
}

/* Whether the column's text may be read without its order. Other columns of such files are read by themselves. */
static bool may_be_unsorted(const struct env *env, const struct column *column, const struct needed_columns *needed)
{
    size_t k;
    const struct file_reader *reader = file_cache_reader(env->file_cache, column, &k);
    return column->logical.kind == LOGICAL_TEXT && needed->at && reader && reader->ops->leaves_unsorted &&
           !is_ordered(column, needed);
}

/* Reads the columns of a file that are lacking. */
static enum status read_file(struct sources *sources, struct source_file *file, const struct env *env,
                             const struct needed_columns *needed, struct timing *timing, struct diags *diags)
{
    size_t *places = arena_array(diags->arena, file->count + 1, sizeof *places);
    size_t *others = arena_array(diags->arena, file->count + 1, sizeof *others);
    size_t other_count = 0, place_count = 0;
    const size_t found = source_lacks(file, needed, places);
    if (found == 0)
        return STATUS_OK;
    enum status status = check_live(file, places, diags);
    for (size_t i = 0; i < found && status == STATUS_OK; i++) {
        if (is_computed(file, &file->columns[places[i]]))
            status = order_computed(sources, file, &file->columns[places[i]], env, diags);
        else if (may_be_unsorted(env, file->columns[places[i]].column, needed))
            others[other_count++] = places[i];
        else
            places[place_count++] = places[i];
    }
    const int64_t began = now_ns();
    if (place_count > 0 && status == STATUS_OK)
        status = read_places(sources, file, env, places, place_count, false, diags);
    if (other_count > 0 && status == STATUS_OK)
        status = read_places(sources, file, env, others, other_count, true, diags);
    timing_add(timing, PHASE_MAP, file->path.text, now_ns() - began, 0);
    return status;
}

enum status sources_read(struct sources *sources, const struct env *env, const struct needed_columns *needed,
                         struct timing *timing, struct diags *diags)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sources->count && status == STATUS_OK; i++) {
        tell_unreadable(&sources->files[i], needed, diags);
        status = read_file(sources, &sources->files[i], env, needed, timing, diags);
    }
    return status;
}

enum status read_column(const struct env *env, struct column **column, struct span span, struct diags *diags)
{
    file_cache_renew(env->file_cache, column, 1);
    struct column *before = *column;
    if (!column_is_unsorted(before))
        return before->unread ? file_cache_read(env->file_cache, column, 1, span, diags) : STATUS_OK;
    const enum status status = in_order(env, before, span, diags, column);
    if (status == STATUS_OK)
        column_unref(before);
    else
        *column = before;
    return status;
}
