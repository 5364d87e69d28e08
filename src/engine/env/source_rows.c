
#include "engine/env/sources.h"

/* What stands for `rows` rows of a column. */
static struct column *stand_in(const struct column *column, int64_t rows)
{
    struct logical_type logical = column->logical;
    logical.dictionary = NULL;
    return column_unread(column->type, logical, rows, column->validity, false);
}

bool source_narrow(struct source_file *file, const struct row_set *rows, struct arena *arena)
{
    struct source_column *narrow = arena_array(arena, file->count + 1, sizeof *narrow);
    bool done = true;
    for (size_t k = 0; k < file->count; k++) {
        const struct column *column = file->columns[k].column;
        /* What was read of rows of the file is not kept elsewhere. */
        const bool take = file->rows && !column->unread && !column_is_unsorted(column);
        narrow[k] = file->columns[k];
        narrow[k].unread = NULL;
        narrow[k].column = take ? row_set_take(rows, column, NULL) : stand_in(column, rows->rows);
        narrow[k].logical.dictionary = take ? column->logical.dictionary : NULL;
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

enum status source_read_rows(const struct sources *sources, struct source_file *file, const struct env *env,
                             const size_t *places, size_t count, bool unsorted, struct diags *diags)
{
    struct column **whole = arena_array(diags->arena, count + 1, sizeof(struct column *));
    struct column **read = arena_array(diags->arena, count + 1, sizeof(struct column *));
    for (size_t i = 0; i < count; i++) {
        const struct source_column *column = &file->whole[places[i]];
        whole[i] = column->unread && !unsorted ? column->unread : column->column;
        read[i] = column_ref(whole[i]);
    }
    enum status status = file_cache_read_rows(env->file_cache, read, count, file->rows, file->path.span, diags);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        if (read[i] == whole[i]) {
            column_unref(read[i]);
            read[i] = row_set_take(file->rows, whole[i], NULL);
        }
        if (!read[i])
            status = diag_error(diags, file->path.span, "not enough memory");
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
