#include "engine/formats/save.h"

#include "base/path.h"
#include "base/utf8.h"
#include "engine/formats/formats.h"
#include "engine/formats/open_file.h"
#include "engine/storage/left_behind.h"
#include "engine/storage/residency.h"
#include "engine/values/dictionary.h"

static enum status unknown_format(const char *path, struct span span, struct diags *diags)
{
    path = path_display(path, diags->arena);
    diag_error(diags, span, "cannot tell the format of `%s` from its extension", path);
    return diag_hint(diags, "use one of %s, or a directory of raw columns: `%s/`",
                     format_extensions(diags->arena, FORMAT_WRITE), path);
}

static enum status check_columns(const struct format *format, const char *path, size_t columns, struct span span,
                                 struct diags *diags)
{
    if (format->columns == 0 || columns == format->columns)
        return STATUS_OK;
    if (format->columns > 1)
        return diag_error_hint(diags, span,
                               "`map RED as red, GREEN as green, BLUE as blue`, or save one column as .pgm",
                               "`%s` needs %zu columns, but there %s %zu", path_display(path, diags->arena),
                               format->columns, columns == 1 ? "is" : "are", columns);
    return diag_error_hint(
        diags, span, "`pick` one, save a table (.tsv, .csv, .jsonl) or a directory of columns (a path ending in /)",
        "`%s` holds one column, but there are %zu", path_display(path, diags->arena), columns);
}

static enum status check_shape(const struct format *format, const char *path, struct shape shape, struct span span,
                               struct diags *diags)
{
    if (!format->shaped || shape.axes == 2 || shape.axes == AXES_UNKNOWN)
        return STATUS_OK;
    if (shape_is_set(&shape))
        diag_error(diags, span, "`%s` is an image, but the rows have %d axes", path_display(path, diags->arena),
                   shape.axes);
    else
        diag_error(diags, span, "`%s` is an image, but the rows have no shape", path_display(path, diags->arena));
    diag_hint(diags, "`shape R C` arranges them in R rows of C columns");
    return STATUS_FAILED;
}

bool save_has_table(const struct table_source *tables, const char *path)
{
    return tables && tables->accepts(path);
}

enum status save_check(const char *path, const struct table_source *tables, size_t columns, struct shape shape,
                       struct span span, struct diags *diags)
{
    if (save_has_table(tables, path))
        return tables->save_check(path, span, diags);
    if (splayed_is_path(path))
        return splayed_check(path, span, diags);
    /* Check the target first: no extension would help /dev/full. */
    if (writer_check(path, span, diags) != STATUS_OK)
        return STATUS_FAILED;
    const struct format *format = format_of_path(path);
    if (!format || !format->write)
        return unknown_format(path, span, diags);
    if (check_columns(format, path, columns, span, diags) != STATUS_OK)
        return STATUS_FAILED;
    return check_shape(format, path, shape, span, diags);
}

static enum status day_of_no_file(int64_t row, int64_t day, struct span span, struct diags *diags)
{
    return diag_error(diags, span, "row %lld: the date %lld days from 1970-01-01 does not fit a file", (long long)row,
                      (long long)day);
}

/* Days in 32 bits, as dates are in all files, with one reference; computed ones may have more. */
static enum status narrow_days(struct column *column, struct span span, struct diags *diags, struct column **narrow)
{
    *narrow = column_reserve(TYPE_I32, TYPE_I32, column->rows);
    if (!*narrow)
        return diag_no_memory(diags, span, "not enough memory");
    for (int64_t row = 0; row < column->rows; row++) {
        const int64_t day = column_get_int(column, row);
        if (day < INT32_MIN || day > INT32_MAX) {
            column_unref(*narrow);
            return day_of_no_file(row, day, span, diags);
        }
        column_set_int(*narrow, row, day);
    }
    column_finish(*narrow, column->rows);
    column_set_logical(*narrow, column->logical);
    column_set_validity(*narrow, column->validity ? column_ref(column->validity) : NULL);
    return STATUS_OK;
}

/* The relation as files hold it, with one reference. */
static enum status narrow_dates(const struct relation *relation, struct span span, struct diags *diags,
                                struct relation **narrow)
{
    struct column **columns = arena_array(diags->arena, relation->count, sizeof(struct column *));
    enum status status = STATUS_OK;
    size_t count = 0;
    for (; count < relation->count && status == STATUS_OK; count++) {
        struct column *column = relation->columns[count];
        if (column->logical.kind == LOGICAL_DATE && column->type != TYPE_I32)
            status = narrow_days(column, span, diags, &columns[count]);
        else
            columns[count] = column_ref(column);
    }
    if (status == STATUS_OK) {
        *narrow = relation_new(relation->rows, count, columns, (const char *const *)relation->names);
        relation_set_shape(*narrow, &relation->shape);
    } else {
        count--;
    }
    columns_unref(columns, count);
    return status;
}

/* Strings of servers are any bytes. */
static enum status check_texts(const struct relation *relation, struct span span, struct diags *diags)
{
    for (size_t k = 0; k < relation->count; k++) {
        const struct column *column = relation->columns[k];
        const struct dictionary *strings = column->logical.kind == LOGICAL_TEXT ? column->logical.dictionary : NULL;
        if (!strings || strings->unsorted) /* of a file, which was checked */
            continue;
        bool *broken = NULL;
        for (int64_t code = 0; code < strings->count; code++) {
            const struct text text = dictionary_text(strings, code);
            if (utf8_is_valid(text.at, text.length))
                continue;
            if (!broken)
                broken = arena_array(diags->arena, (size_t)strings->count, sizeof *broken);
            broken[code] = true;
        }
        for (int64_t row = 0; row < column->rows && broken; row++) {
            if (column_is_missing(column, row) || !broken[column_get_int(column, row)])
                continue;
            return diag_error_hint(diags, span, "leave the column out, or have a view on the server convert it",
                                   "column `%s`, row %lld: text that is not UTF-8, which files cannot hold",
                                   relation->names[k], (long long)row);
        }
    }
    return STATUS_OK;
}

/* Tables on servers get no lists. */
static enum status check_lists(const struct relation *relation, struct span span, struct diags *diags)
{
    for (size_t k = 0; k < relation->count; k++) {
        if (relation->columns[k]->logical.kind != LOGICAL_LIST)
            continue;
        (void)diag_error(diags, span, "column `%s` holds lists, which tables on servers cannot get",
                         relation->names[k]);
        return diag_hint(diags, "`unnest %s` gives its elements rows, or save as .parquet", relation->names[k]);
    }
    return STATUS_OK;
}

static enum status save_columns(const struct relation *relation, const char *path, const struct workers *workers,
                                struct span span, struct diags *diags)
{
    if (splayed_is_path(path))
        return splayed_save(relation, path, workers, span, diags);
    struct writer writer;
    const char *target = path_resolve(path, diags->arena);
    if (target)
        sweep_directory(path_directory(target, diags->arena));
    enum status status = writer_open(&writer, path, span, diags);
    if (status != STATUS_OK)
        return status;
    const struct format_job job = {.format = format_of_path(path), .workers = workers, .span = span, .diags = diags};
    status = format_write(&job, relation, &writer);
    if (status == STATUS_OK)
        status = writer_publish(&writer, span, diags);
    writer_discard(&writer);
    return status;
}

enum status save_prepare(const struct relation *relation, struct span span, struct diags *diags,
                         struct relation **prepared)
{
    enum status status = relation_fetch(relation, 0, relation->rows, span, diags);
    if (status == STATUS_OK)
        status = check_texts(relation, span, diags);
    return status == STATUS_OK ? narrow_dates(relation, span, diags, prepared) : status;
}

enum status save_relation(const struct relation *relation, const char *path, enum save_way way,
                          const struct table_source *tables, const struct workers *workers, struct span span,
                          struct diags *diags)
{
    enum status status = save_check(path, tables, relation->count, relation->shape, span, diags);
    if (status != STATUS_OK)
        return status;
    if (save_has_table(tables, path)) {
        status = check_lists(relation, span, diags);
        if (status == STATUS_OK)
            status = relation_fetch(relation, 0, relation->rows, span, diags);
        const struct format_job job = {.workers = workers, .span = span, .diags = diags};
        return status == STATUS_OK ? tables->save(tables->servers, path, way, relation, &job) : status;
    }
    struct relation *prepared = NULL;
    status = save_prepare(relation, span, diags, &prepared);
    if (status != STATUS_OK)
        return status;
    status = save_columns(prepared, path, workers, span, diags);
    relation_unref(prepared);
    return status;
}
