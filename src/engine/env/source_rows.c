
#include "engine/env/sources.h"

#include "engine/formats/file_cache.h"
#include "engine/storage/unsorted_column.h"

/* What stands for `rows` rows of a column. */
static struct column *stand_in(const struct column *column, int64_t rows)
{
    struct logical_type logical = column->logical;
    logical.dictionary = NULL;
    struct column *narrow = column_unread(column->type, logical, rows, column->validity, false);
    if (narrow && column->rows > 0)
        narrow->packed = (int64_t)((double)column->packed * (double)rows / (double)column->rows);
    return narrow;
}

/* These rows of a column that was read. Of an unsorted dictionary only the strings of few rows are looked at again. */
static struct column *take(const struct row_set *rows, const struct column *column)
{
    enum { FEW = 3 };
    return column_is_unsorted(column) && rows->rows <= column->rows / FEW ? unsorted_take(rows, column)
                                                                          : row_set_take(rows, column, NULL);
}

bool source_narrow(struct source_file *file, const struct row_set *rows, struct arena *arena)
{
    struct source_column *narrow = arena_array(arena, file->count + 1, sizeof *narrow);
    bool done = true;
    for (size_t k = 0; k < file->count; k++) {
        const struct column *column = file->columns[k].column;
        /* What was read of rows of the file is not kept elsewhere, nor what has no order in another one. */
        const bool taken = !column->unread && (file->rows || column_is_unsorted(column));
        narrow[k] = file->columns[k];
        narrow[k].unread = NULL;
        narrow[k].column = taken ? take(rows, column) : stand_in(column, rows->rows);
        narrow[k].logical.dictionary = taken && narrow[k].column ? narrow[k].column->logical.dictionary : NULL;
        done = done && narrow[k].column;
    }
    for (size_t k = 0; k < file->count && !done; k++)
        column_unref(narrow[k].column);
    if (!done)
        return false;
    for (size_t k = 0; k < file->count && file->whole; k++) {
        column_unref(file->columns[k].column);
        column_unref(file->columns[k].unread);
    }
    if (!file->whole)
        file->whole = file->columns;
    file->columns = narrow;
    if (file->rows) {
        struct row_set *within = arena_alloc(arena, sizeof *within);
        row_set_init(within, arena);
        row_set_within(within, file->rows, rows);
        rows = within;
    }
    file->rows = rows;
    return true;
}

void source_set_column(struct source_file *file, size_t k, struct column *column)
{
    column_unref(file->columns[k].column);
    file->columns[k].column = column;
    file->columns[k].type = column->type;
    file->columns[k].logical = column->logical;
}

/* Reads columns: just the rows of those for which that pays, others whole, so that they are kept. */
static enum status read_some(const struct source_file *file, const struct env *env, struct column **read, size_t count,
                             bool unsorted, struct diags *diags)
{
    struct file_cache *cache = env->file_cache;
    struct column **some = arena_array(diags->arena, count + 1, sizeof(struct column *));
    struct column **all = arena_array(diags->arena, count + 1, sizeof(struct column *));
    bool *spares = arena_array(diags->arena, count + 1, sizeof *spares);
    size_t some_count = 0, all_count = 0;
    for (size_t i = 0; i < count; i++) {
        spares[i] = file_cache_spares(cache, read[i], file->rows->rows);
        if (spares[i])
            some[some_count++] = read[i];
        else
            all[all_count++] = read[i];
    }
    enum status status = file_cache_read_rows(cache, some, some_count, file->rows, file->path.span, diags);
    if (status == STATUS_OK && all_count > 0)
        status = unsorted ? file_cache_read_unsorted(cache, all, all_count, file->path.span, diags)
                          : file_cache_read(cache, all, all_count, file->path.span, diags);
    some_count = all_count = 0;
    for (size_t i = 0; i < count; i++)
        read[i] = spares[i] ? some[some_count++] : all[all_count++];
    return status;
}

/* Puts the narrowed columns in order that are there without one, and leaves their places out. */
static enum status order_rows(const struct sources *sources, struct source_file *file, const struct env *env,
                              size_t *places, size_t *count, struct diags *diags)
{
    enum status status = STATUS_OK;
    size_t kept = 0;
    for (size_t i = 0; i < *count && status == STATUS_OK; i++) {
        struct source_column *column = &file->columns[places[i]];
        if (!column_is_unsorted(column->column)) {
            places[kept++] = places[i];
            continue;
        }
        struct column *ordered = column_ref(column->column);
        status = file_cache_order(env->file_cache, &ordered, file->path.span, diags);
        column_unref(column->column);
        *column = source_column(sources, column->name, ordered);
    }
    *count = kept;
    return status;
}

enum status source_read_rows(const struct sources *sources, struct source_file *file, const struct env *env,
                             size_t *places, size_t count, bool unsorted, struct diags *diags)
{
    if (!unsorted) {
        const enum status status = order_rows(sources, file, env, places, &count, diags);
        if (status != STATUS_OK)
            return status;
    }
    struct column **read = arena_array(diags->arena, count + 1, sizeof(struct column *));
    for (size_t i = 0; i < count; i++) {
        const struct source_column *column = &file->whole[places[i]];
        read[i] = column_ref(column->unread && !unsorted ? column->unread : column->column);
    }
    enum status status = read_some(file, env, read, count, unsorted, diags);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct column *whole = read[i];
        if (whole->rows != file->rows->rows) {
            read[i] = row_set_take(file->rows, whole, NULL);
            column_unref(whole);
        }
        if (!read[i])
            status = diag_no_memory(diags, file->path.span, "not enough memory");
    }
    for (size_t i = 0; i < count; i++) {
        struct source_column *column = &file->columns[places[i]];
        if (status == STATUS_OK) {
            column_unref(column->column);
            *column = source_column(sources, column->name, read[i]);
        } else {
            column_unref(read[i]);
        }
    }
    return status;
}
