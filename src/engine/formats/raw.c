#include "engine/formats/raw.h"

#include <math.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "raw files are mapped in place, which needs a little-endian machine"
#endif

enum { BLOCK_ROWS = 16384 };

/* "i16, u16, f32": the types whose size divides the file's, for the hint. */
static const char *fitting_types(struct arena *arena, size_t size)
{
    const char *list = NULL;
    for (int i = TYPE_I8; i < TYPE_COUNT; i++) {
        const struct type_info *info = &type_table[i];
        if (size % info->size == 0)
            list = list ? arena_printf(arena, "%s, %s", list, info->name) : info->name;
    }
    return list;
}

enum status read_raw(const struct format_job *job, struct mapping *mapping, struct relation **relation)
{
    const struct type_info *info = &type_table[job->format->type];
    struct diags *diags = job->diags;
    const size_t length = mapping_length(mapping);
    if (length % info->size != 0) {
        diag_error(diags, job->span, "`%s` has %zu bytes, which is not a multiple of the size of %s, %zu bytes",
                   mapping_path(mapping), length, info->name, info->size);
        return diag_hint(diags, "it may be truncated or of another type; its size fits %s",
                         fitting_types(diags->arena, length));
    }
    struct column *column = column_of_mapping(job->format->type, mapping);
    if (!column)
        return file_memory_error(mapping_path(mapping), job->span, diags);
    *relation = relation_new(column->rows, 1, &column, &(const char *){""});
    column_unref(column);
    return STATUS_OK;
}

/* Reports a value that cannot be stored. */
static enum status value_error(const struct column *column, int64_t row, enum type type, struct span span,
                               struct diags *diags)
{
    struct strbuf text = {0};
    struct scalar value = column_get(column, row);
    scalar_print(&text, &value);
    const struct type_info *info = &type_table[type];
    diag_error(diags, span, "row %lld: %s does not fit %s", (long long)row, text.text, info->name);
    if (info->kind == KIND_INT)
        diag_hint(diags, "%s holds %lld to %lld; nothing was written", info->name, (long long)info->lo,
                  (long long)info->hi);
    else
        diag_hint(diags, "%s; nothing was written",
                  value.kind == KIND_FLOAT ? "it exceeds the largest f32"
                                           : "it has no exact float value; `float(x)` rounds it");
    strbuf_free(&text);
    return STATUS_FAILED;
}

static void store_int(void *at, enum type type, int64_t v)
{
    /* The low bytes of a value in range are the element. */
    memcpy(at, &v, type_table[type].size);
}

static bool store_float(void *at, enum type type, double v)
{
    if (type == TYPE_F64) {
        memcpy(at, &v, sizeof v);
        return true;
    }
    float narrow = (float)v;
    memcpy(at, &narrow, sizeof narrow);
    return isfinite(narrow) || !isfinite(v);
}

/* Whether the integer has an exact float value; 2^63 is not an int64. */
static bool int_is_float(int64_t v, enum type type)
{
    const double wide = type == TYPE_F32 ? (double)(float)v : (double)v;
    return wide < 9223372036854775808.0 && (int64_t)wide == v;
}

/* Stores one element as `type`; false if it does not fit. */
static bool store_element(void *at, enum type type, const struct column *column, int64_t row)
{
    const struct type_info *info = &type_table[type];
    if (type_table[column->type].kind == KIND_FLOAT)
        return store_float(at, type, column_get_float(column, row));
    const int64_t v = column_get_int(column, row);
    if (info->kind == KIND_FLOAT)
        return int_is_float(v, type) && store_float(at, type, (double)v);
    if (v < info->lo || v > info->hi)
        return false;
    store_int(at, type, v);
    return true;
}

/* Whether the column's data can be written as it is. */
static bool stored_as(const struct column *column, enum type type)
{
    return column->store == type || (column->store == TYPE_BOOL && (type == TYPE_I8 || type == TYPE_U8));
}

enum status write_raw(const struct format_job *job, const struct relation *relation, struct writer *writer)
{
    const struct format *format = job->format;
    struct diags *diags = job->diags;
    const struct column *column = relation->columns[0];
    const struct type_info *info = &type_table[format->type];
    const char *name = arena_printf(diags->arena, "%s files", format->extension);
    if (check_plain_numbers(relation, name, job->span, diags) != STATUS_OK)
        return STATUS_FAILED;
    if (type_table[column->type].kind == KIND_FLOAT && info->kind != KIND_FLOAT)
        return diag_error_hint(diags, job->span, "convert it with `map int(...)`, or save as .f64",
                               "column `%s` holds floats, but %s files hold integers", relation->names[0],
                               format->extension);
    if (stored_as(column, format->type)) {
        writer_add(writer, column->data, (size_t)column->rows * info->size);
        return STATUS_OK;
    }
    unsigned char block[BLOCK_ROWS * sizeof(double)];
    for (int64_t begin = 0; begin < column->rows; begin += BLOCK_ROWS) {
        const int64_t end = column->rows - begin > BLOCK_ROWS ? begin + BLOCK_ROWS : column->rows;
        unsigned char *at = block;
        for (int64_t row = begin; row < end; row++, at += info->size) {
            if (!store_element(at, format->type, column, row))
                return value_error(column, row, format->type, job->span, diags);
        }
        writer_add(writer, block, (size_t)(at - block));
        if (workers_cancelled(job->workers))
            return STATUS_CANCELLED;
    }
    return STATUS_OK;
}

static enum status check_raw(const struct relation *relation, struct span span, struct diags *diags)
{
    if (relation->count == 1)
        return check_plain_numbers(relation, "raw elements", span, diags);
    return diag_error_hint(diags, span, "`pick` one, or use a format with several columns: npy, csv, tsv, jsonl",
                           "raw output needs one column, but there are %zu", relation->count);
}

const struct row_style style_raw = {.binary = true, .check = check_raw, .rows = encode_binary};

static enum status check_column(const struct column *column, int64_t rows, const char *name, const char *format,
                                struct span span, struct diags *diags)
{
    static const char others[] = "save as .parquet, .arrow or .csv";
    const enum logical kind = column->logical.kind;
    const char *unit = logical_table[kind].unit;
    if (kind != LOGICAL_NUMBER && !unit) {
        (void)diag_error(diags, span, "column `%s` holds %s, but %s hold plain numbers", name,
                         kind == LOGICAL_TEXT   ? "text"
                         : kind == LOGICAL_LIST ? "lists"
                                                : "decimals",
                         format);
        return diag_hint(diags, kind != LOGICAL_DECIMAL ? "%s" : "convert it with `map float(...)`, or %s", others);
    }
    if (column_has_missing(column, rows)) {
        (void)diag_error(diags, span, "column `%s` has missing values, which %s cannot hold", name, format);
        return diag_hint(diags, "replace them with `%s ?? 0`, or %s", name, others);
    }
    if (unit)
        diag_note(diags, span, "column `%s` is written as integers: %s", name, unit);
    return STATUS_OK;
}

enum status check_plain_numbers(const struct relation *relation, const char *format, struct span span,
                                struct diags *diags)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < relation->count && status == STATUS_OK; k++)
        status = check_column(relation->columns[k], relation->rows, relation->names[k], format, span, diags);
    return status;
}
