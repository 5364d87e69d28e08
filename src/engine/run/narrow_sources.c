#include "engine/run/provide.h"

#include "engine/env/sources.h"
#include "engine/storage/file_reader.h"

/* Fewer rows are read faster than anything can be found out about them: from the begin of a file, and from places all
 * over it. */
enum { LEAST_ROWS = 1 << 16, LEAST_NARROW = 1 << 8 };

/* The column of the file, with all rows. */
static const struct column *whole_column(const struct source_file *file, size_t k)
{
    const struct source_column *column = file->whole ? &file->whole[k] : &file->columns[k];
    return column->unread ? column->unread : column->column;
}

/* Whether some rows of the columns at these places can be read. */
static bool reads_rows(const struct env *env, const struct source_file *file, const size_t *places, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t k;
        const struct column *column = whole_column(file, places[i]);
        const struct file_reader *reader = file_cache_reader(env->file_cache, column, &k);
        if (column->provisional || (column->unread && (!reader || !reader->ops->read_rows)))
            return false;
    }
    return true;
}

static bool spares_rows(const struct env *env, const struct source_file *file, const size_t *places, size_t count,
                        int64_t rows)
{
    bool spares = true;
    for (size_t i = 0; i < count && spares; i++) {
        const struct column *column = whole_column(file, places[i]);
        spares = !column->unread || file_cache_spares(env->file_cache, column, rows);
    }
    return spares;
}

/* Leaves out of `needed` the columns of the file that are not to be read first. */
static void keep_first(const struct source_file *file, const struct file_need *need, struct needed_columns *needed)
{
    size_t kept = 0;
    for (size_t i = 0; i < needed->count; i++) {
        const struct column *at = needed->at[i].column;
        bool later = false;
        for (size_t k = 0; k < file->count; k++) {
            const struct column *column = file->columns[k].column;
            later = later || (!need->first[k] && (at == column || at == column->validity));
        }
        if (!later)
            needed->at[kept++] = needed->at[i];
    }
    needed->count = kept;
}

/* Goes on with one file that lacks the columns at these places. */
static enum status narrow_file(struct runner *runner, struct source_file *file, const struct queue *queue,
                               const size_t *places, size_t found, struct file_need *need, struct arena *arena,
                               struct diags *diags)
{
    struct column **columns = arena_array(arena, file->count + 1, sizeof(struct column *));
    for (size_t k = 0; k < file->count; k++)
        columns[k] = file->columns[k].column;
    *need = (struct file_need){
        .queue = queue, .columns = columns, .count = file->count, .rows = columns[0]->rows, .search = file->search};
    const enum status status = find_needed_rows(runner, need, arena);
    if (!need->first)
        file->search++;
    if (status != STATUS_OK || !need->found)
        return status;
    need->found = spares_rows(runner->env, file, places, found, need->found_rows.rows);
    if (!need->found)
        return STATUS_OK;
    struct row_set *rows = arena_copy(arena, &need->found_rows, sizeof *rows);
    return source_narrow(file, rows, arena) ? STATUS_OK : diag_error(diags, file->path.span, "not enough memory");
}

enum status narrow_sources(struct runner *runner, struct sources *sources, const struct queue *queue,
                           struct needed_columns *needed, bool *narrowed, struct arena *arena, struct diags *diags)
{
    enum status status = STATUS_OK;
    *narrowed = false;
    for (size_t i = 0; i < sources->count && status == STATUS_OK && !*narrowed; i++) {
        struct source_file *file = &sources->files[i];
        size_t *places = arena_array(arena, file->count + 1, sizeof *places);
        const size_t found = source_lacks(file, needed, places);
        if (found == 0 || file->columns[0].column->rows < (file->rows ? LEAST_NARROW : LEAST_ROWS) ||
            !reads_rows(runner->env, file, places, found))
            continue;
        struct file_need need = {0};
        while (file->search != SEARCH_DONE && status == STATUS_OK && !need.found && !need.first)
            status = narrow_file(runner, file, queue, places, found, &need, arena, diags);
        *narrowed = need.found;
        if (need.first)
            keep_first(file, &need, needed);
    }
    return status;
}
