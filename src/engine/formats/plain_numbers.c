#include "engine/formats/plain_numbers.h"

static enum status check_column(const struct column *column, int64_t rows, const char *name, const char *format,
                                struct span span, struct diags *diags)
{
    static const char others[] = "save as .parquet, .arrow or .csv";
    const enum logical kind = column->logical.kind;
    const char *unit = logical_table[kind].unit;
    if (kind != LOGICAL_NUMBER && !unit) {
        (void)diag_error(diags, span, "column `%s` holds %s, but %s hold plain numbers", name,
                         kind == LOGICAL_TEXT ? "text" : "decimals", format);
        diag_hint(diags, kind == LOGICAL_TEXT ? "%s" : "convert it with `map float(...)`, or %s", others);
        return STATUS_FAILED;
    }
    if (column_has_missing(column, rows)) {
        (void)diag_error(diags, span, "column `%s` has missing values, which %s cannot hold", name, format);
        diag_hint(diags, "replace them with `%s ?? 0`, or %s", name, others);
        return STATUS_FAILED;
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
