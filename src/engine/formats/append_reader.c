#include "engine/formats/open_file.h"

#include "base/heap.h"
#include "base/path.h"
#include "engine/formats/append_column.h"
#include "engine/storage/file_errors.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LISTED = 8 };
static const size_t absent = SIZE_MAX;

struct appended {
    struct opened_file file;
    char *path;     /* as shown in messages */
    size_t *places; /* of each column of the result in this file, or `absent` */
};

struct append_reader {
    struct file_reader base;
    size_t file_count;
    struct appended *files;
};

static size_t appended_width(const struct appended *appended)
{
    return appended->file.reader ? appended->file.reader->count : appended->file.relation->count;
}

static int64_t appended_rows(const struct appended *appended)
{
    return appended->file.reader ? appended->file.reader->rows : appended->file.relation->rows;
}

static bool is_provisional(const struct appended *appended)
{
    return appended->file.reader && appended->file.reader->provisional;
}

static struct reader_column appended_column(const struct appended *appended, size_t k)
{
    if (appended->file.reader)
        return appended->file.reader->columns[k];
    const struct column *column = appended->file.relation->columns[k];
    struct reader_column described = {appended->file.relation->names[k], column->type, column->logical,
                                      column->validity};
    described.logical.dictionary = NULL;
    return described;
}

static void close_appended(struct file_reader *base)
{
    struct append_reader *reader = (struct append_reader *)base;
    for (size_t p = 0; p < reader->file_count; p++) {
        opened_file_close(&reader->files[p].file);
        free(reader->files[p].places);
        free(reader->files[p].path);
    }
    free(reader->files);
    free(base->columns);
    free(reader);
}

static enum status types_differ(const struct append_reader *reader, size_t p, size_t k, struct column_type type,
                                struct column_type other, const struct format_job *job)
{
    const struct appended *appended = &reader->files[p];
    return diag_error_hint(job->diags, job->span, "load the files one by one",
                           "`%s` cannot be appended: its column `%s` is %s, in the files before it %s", appended->path,
                           reader->base.columns[k].name, logical_type_name(other.logical, other.type),
                           logical_type_name(type.logical, type.type));
}

/* Finds the column's type from what the files declare. Types that come from a sample are checked when it is read. */
static enum status declare_column(struct append_reader *reader, size_t k, const struct format_job *job)
{
    struct reader_column *column = &reader->base.columns[k];
    struct column_type type = {column->type, column->logical};
    bool known = false;
    for (size_t p = 0; p < reader->file_count; p++) {
        const struct appended *appended = &reader->files[p];
        if (appended->places[k] == absent) {
            column->nullable = true;
            continue;
        }
        const struct reader_column piece = appended_column(appended, appended->places[k]);
        const struct column_type other = {piece.type, piece.logical};
        column->nullable = column->nullable || piece.nullable;
        if (appended_rows(appended) == 0)
            continue;
        if (!known)
            type = other;
        else if (!type_widen(&type, other) && !reader->base.provisional)
            return types_differ(reader, p, k, type, other, job);
        known = true;
    }
    column->type = type.type;
    column->logical = type.logical;
    return STATUS_OK;
}

/* Finds the file's columns by name; notes those that the first file does not have. */
static void place_columns(const struct append_reader *reader, struct appended *appended, const struct format_job *job)
{
    const size_t count = reader->base.count, width = appended_width(appended);
    const char *left_out = "";
    size_t extra = 0;
    appended->places = heap_array(count, sizeof *appended->places);
    for (size_t k = 0; k < count; k++)
        appended->places[k] = absent;
    for (size_t i = 0; i < width; i++) {
        const char *name = appended_column(appended, i).name;
        size_t k = 0;
        while (k < count && (appended->places[k] != absent || strcmp(reader->base.columns[k].name, name) != 0))
            k++;
        if (k < count)
            appended->places[k] = i;
        else if (extra++ <= MAX_LISTED)
            left_out = arena_printf(job->diags->arena, extra > MAX_LISTED ? "%s, ...%.0s" : "%s%s`%s`", left_out,
                                    extra > 1 ? ", " : "", name);
    }
    if (extra > 0)
        diag_note(job->diags, (struct span){0}, "`%s`: left out %s: not in `%s`", appended->path, left_out,
                  reader->files[0].path);
}

static enum status describe(struct append_reader *reader, const struct format_job *job)
{
    struct file_reader *base = &reader->base;
    base->count = appended_width(&reader->files[0]);
    base->columns = heap_array(base->count + 1, sizeof *base->columns);
    for (size_t k = 0; k < base->count; k++)
        base->columns[k] = appended_column(&reader->files[0], k);
    for (size_t p = 0; p < reader->file_count; p++) {
        place_columns(reader, &reader->files[p], job);
        base->provisional = base->provisional || is_provisional(&reader->files[p]);
        if (__builtin_add_overflow(base->rows, appended_rows(&reader->files[p]), &base->rows))
            return diag_error(job->diags, job->span, "too many rows");
    }
    enum status status = STATUS_OK;
    for (size_t k = 0; k < base->count && status == STATUS_OK; k++)
        status = declare_column(reader, k, job);
    return status;
}

/* Reads the wanted columns of a file into pieces[k], each with a reference. A text file of which nothing was read may
 * be malformed: then its first column is read too. */
static enum status read_file(struct appended *appended, const struct format_job *job, size_t count, const bool *wanted,
                             struct column **pieces)
{
    struct arena *arena = job->diags->arena;
    const size_t width = appended_width(appended);
    bool *want = arena_array(arena, width + 1, sizeof *want), any = false;
    struct column **read = arena_array(arena, width + 1, sizeof(struct column *));
    for (size_t k = 0; k < count; k++) {
        if (wanted[k] && appended->places[k] != absent)
            want[appended->places[k]] = any = true;
    }
    if (!any && is_provisional(appended) && width > 0)
        want[0] = any = true;
    if (any && appended->file.reader) {
        const struct format_job own = {appended->file.format, job->workers, job->span, job->diags, NULL, false};
        const enum status status = format_read_columns(&own, appended->file.mapping, appended->file.reader, want, read);
        if (status != STATUS_OK)
            return status;
    }
    for (size_t i = 0; i < width && !appended->file.reader; i++)
        read[i] = want[i] ? column_ref(appended->file.relation->columns[i]) : NULL;
    for (size_t k = 0; k < count; k++)
        pieces[k] = wanted[k] && appended->places[k] != absent ? column_ref(read[appended->places[k]]) : NULL;
    for (size_t i = 0; i < width; i++)
        column_unref(want[i] ? read[i] : NULL);
    return STATUS_OK;
}

/* Appends the pieces of column k. */
static enum status append_column(const struct append_reader *reader, const struct format_job *job, size_t k,
                                 struct column *const *pieces, struct column **column)
{
    struct column_type type = {reader->base.columns[k].type, reader->base.columns[k].logical};
    int64_t *rows = arena_array(job->diags->arena, reader->file_count, sizeof *rows);
    bool known = false, too_large = false;
    for (size_t p = 0; p < reader->file_count; p++) {
        rows[p] = appended_rows(&reader->files[p]);
        const struct column *piece = pieces[p];
        if (!piece || (column_is_vacant(piece) && !known))
            continue;
        struct column_type other = {piece->type, piece->logical};
        other.logical.dictionary = NULL;
        if (!known)
            type = other;
        else if (!column_is_vacant(piece) && !type_widen(&type, other))
            return types_differ(reader, p, k, type, other, job);
        known = true;
    }
    for (size_t p = 0; p < reader->file_count && !known; p++) { /* all vacant: any type */
        if (pieces[p] && rows[p] > 0)
            type = (struct column_type){pieces[p]->type, {.kind = pieces[p]->logical.kind}};
    }
    const struct column_pieces all = {pieces, rows, reader->file_count, reader->base.rows};
    *column = append_columns(&all, type, job->workers, &too_large);
    if (*column)
        return STATUS_OK;
    if (too_large)
        return diag_error(job->diags, job->span, "a value of column `%s` does not fit decimal(%d)",
                          reader->base.columns[k].name, type.logical.scale);
    return workers_cancelled(job->workers) ? STATUS_CANCELLED : diag_error(job->diags, job->span, "not enough memory");
}

static enum status read_appended(struct file_reader *base, const struct format_job *job, const bool *wanted,
                                 struct column **columns)
{
    struct append_reader *reader = (struct append_reader *)base;
    const size_t files = reader->file_count, count = base->count;
    struct column **read = heap_array(files * count + 1, sizeof(struct column *)); /* by appended */
    struct column **pieces = heap_array(files, sizeof(struct column *));           /* of one column */
    enum status status = STATUS_OK;
    for (size_t p = 0; p < files && status == STATUS_OK; p++)
        status = read_file(&reader->files[p], job, count, wanted, read + p * count);
    base->rows = 0;
    for (size_t p = 0; p < files; p++)
        base->rows += appended_rows(&reader->files[p]);
    size_t done = 0;
    for (; done < count && status == STATUS_OK; done++) {
        for (size_t p = 0; p < files; p++)
            pieces[p] = read[p * count + done];
        if (wanted[done])
            status = append_column(reader, job, done, pieces, &columns[done]);
        if (wanted[done] && status != STATUS_OK)
            break;
    }
    const struct column *changed = NULL;
    for (size_t i = 0; i < files * count; i++)
        changed = !changed && read[i] ? changed_column(&read[i], 1) : changed;
    if (changed && status == STATUS_OK)
        status = file_changed_error(changed, job->span, job->diags);
    for (size_t k = 0; k < done && status != STATUS_OK; k++)
        column_unref(wanted[k] ? columns[k] : NULL);
    columns_unref(read, files * count);
    free(read);
    free(pieces);
    return status;
}

enum status open_appended(const struct opener *opener, const char *const *paths, size_t count, struct span span,
                          const struct load_options *options, struct opened_file *appended, struct diags *diags)
{
    static const struct file_reader_ops ops = {.read = read_appended, .close = close_appended};
    struct append_reader *reader = heap_array(1, sizeof *reader);
    reader->base.ops = &ops;
    reader->files = heap_array(count, sizeof *reader->files);
    enum status status = STATUS_OK;
    for (size_t p = 0; p < count && status == STATUS_OK; p++) {
        struct appended *one = &reader->files[reader->file_count++];
        const struct load_options own = {options->format ? options->format : format_of_path(paths[p]), options->text};
        one->path = heap_text(path_display(paths[p], diags->arena));
        status = own.format->shaped
                     ? diag_error(diags, span, "`%s` is an image: images are loaded one by one", one->path)
                     : open_file(opener, paths[p], span, &own, &one->file, diags);
    }
    const struct workers workers = opener_workers(opener, paths[0], diags->arena);
    const struct format_job job = {reader->files[0].file.format, &workers, span, diags, options->text, false};
    if (status == STATUS_OK)
        status = describe(reader, &job);
    if (status != STATUS_OK) {
        close_appended(&reader->base);
        return status;
    }
    *appended = (struct opened_file){.format = job.format, .reader = &reader->base};
    return STATUS_OK;
}
