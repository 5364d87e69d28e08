#include "engine/run/provide.h"

#include "base/integer.h"
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

/* The rows of the parts of a file, as long as pages mostly are, that have some of these rows. */
static int64_t rows_unpacked(const struct row_set *rows, int64_t all)
{
    enum { PAGE_ROWS = 1 << 16 };
    int64_t unpacked = 0, end = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const int64_t begin = max_int64(end, rows->begins[i] / PAGE_ROWS * PAGE_ROWS);
        end = max_int64(end, (rows->ends[i] + PAGE_ROWS - 1) / PAGE_ROWS * PAGE_ROWS);
        unpacked += end - begin;
    }
    return min_int64(unpacked, all);
}

/* Whether reading these rows of the lacking columns is faster than reading all, some of which have to be read whole. */
static bool pays(const struct env *env, const struct source_file *file, const size_t *places, size_t count,
                 const struct row_set *rows)
{
    /* Nanoseconds to move an element, and to find a range of rows in a page; times as fast, but for what is unknown. */
    const double take = 4, find = 10, least_gain = 1.2;
    const int64_t all = file->columns[0].column->rows, unpacked = rows_unpacked(rows, all);
    double whole = 0, some = 0;
    for (size_t i = 0; i < count; i++) {
        const struct column *column = whole_column(file, places[i]);
        const double time = column->unread ? file_cache_time_to_read(column) : take;
        const bool spared = column->unread && file_cache_spares(env->file_cache, column, rows->rows);
        whole += time * (double)all;
        if (column_is_unsorted(file->columns[places[i]].column)) { /* which is put in order in memory */
            some += time * (double)rows->rows;
            continue;
        }
        some += spared ? time * (double)file_cache_rows_worth(column, unpacked, rows->rows) + find * (double)rows->count
                       : time * (double)all + take * (double)rows->rows;
    }
    return some * least_gain < whole;
}

/* How many rows are worth being looked for: text is read slowly. */
static int64_t most_rows(const struct source_file *file, const size_t *places, size_t count)
{
    const int64_t rows = file->columns[0].column->rows;
    bool text = false;
    for (size_t i = 0; i < count; i++)
        text = text || file_cache_is_slow(file->columns[places[i]].column);
    return text ? rows / 3 : rows / 8;
}

/* Leaves out of `needed` the columns of the file that are not to be read first. Texts are put in order later, if only
 * those of some rows are. */
static void keep_first(const struct source_file *file, const struct file_need *need, struct needed_columns *needed)
{
    size_t kept = 0;
    for (size_t i = 0; i < needed->count; i++) {
        const struct column *at = needed->at[i].column;
        bool later = false;
        for (size_t k = 0; k < file->count; k++) {
            const struct column *column = file->columns[k].column;
            if (at != column && at != column->validity)
                continue;
            later = later || !need->first[k];
            needed->at[i].ordered = needed->at[i].ordered && need->first_ordered[k];
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
    *need = (struct file_need){.queue = queue,
                               .columns = columns,
                               .count = file->count,
                               .rows = columns[0]->rows,
                               .most_rows = most_rows(file, places, found),
                               .tried = file->tried,
                               .search = file->search};
    const enum status status = find_needed_rows(runner, need, arena);
    file->tried = need->tried;
    if (!need->first && !(need->found && file->search == SEARCH_VALUES))
        file->search++;
    if (status != STATUS_OK || !need->found)
        return status;
    need->found = file->rows || need->taken || pays(runner->env, file, places, found, &need->found_rows);
    if (!need->found)
        return STATUS_OK;
    struct row_set *rows = arena_copy(arena, &need->found_rows, sizeof *rows);
    const bool narrowed = source_narrow(file, rows, arena);
    for (size_t k = 0; k < file->count && need->taken; k++) {
        if (narrowed && need->taken[k])
            source_set_column(file, k, need->taken[k]);
        else
            column_unref(need->taken[k]);
    }
    return narrowed ? STATUS_OK : diag_no_memory(diags, file->path.span, "not enough memory");
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
        const int64_t began = now_ns();
        while (file->search != SEARCH_DONE && status == STATUS_OK && !need.found && !need.first)
            status = narrow_file(runner, file, queue, places, found, &need, arena, diags);
        timing_add(runner->timing, PHASE_FIND, file->path.text, now_ns() - began, 0);
        *narrowed = need.found;
        if (need.first)
            keep_first(file, &need, needed);
    }
    return status;
}
