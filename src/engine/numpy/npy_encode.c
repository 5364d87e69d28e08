#include "engine/numpy/npy.h"

#include "base/utf8.h"
#include "engine/numpy/npy_header.h"
#include "engine/values/dictionary.h"

#include <string.h>

enum { POINT_BYTES = 4 }; /* of a character */

/* Of logical types with one of their own. */
static const char *const type_names[LOGICAL_KINDS] = {
#define LOGICAL_TYPE(kind, name, stored, family, adds, means, noun, unit, written, literal, evidence, annotation,      \
                     converted, arrow, numpy)                                                                          \
    [LOGICAL_##kind] = numpy,
#include "engine/values/logical_types.def"
};

enum status npy_check_column(const struct column *column, int64_t rows, const char *name, struct span span,
                             struct diags *diags)
{
    static const char others[] = "save as .parquet, .arrow or .csv";
    const struct logical_type *logical = &column->logical;
    if (logical->kind != LOGICAL_NUMBER && logical->kind != LOGICAL_TEXT && !type_names[logical->kind]) {
        (void)diag_error(diags, span, "column `%s` holds %ss, which NumPy arrays cannot hold", name,
                         logical_table[logical->kind].name);
        if (logical->kind == LOGICAL_LIST)
            return diag_hint(diags, "`unnest %s` gives its elements rows, or %s", name, others);
        return diag_hint(diags, "convert it with `map float(...)`, or %s", others);
    }
    if (!logical_is_time(*logical) && column_has_missing(column, rows)) {
        (void)diag_error(diags, span, "column `%s` has missing values, which NumPy arrays cannot hold", name);
        return diag_hint(diags, "replace them with `%s ?? %s`, or %s", name,
                         logical->kind == LOGICAL_TEXT ? "\"\""
                         : column->type == TYPE_BOOL   ? "false"
                                                       : "0",
                         others);
    }
    if (logical->zone)
        diag_note(diags, span, "column `%s` is in UTC, which NumPy arrays do not say", name);
    return STATUS_OK;
}

size_t npy_width(const struct column *column)
{
    const struct dictionary *dictionary = column->logical.dictionary;
    if (type_names[column->logical.kind])
        return sizeof(int64_t);
    if (column->logical.kind != LOGICAL_TEXT)
        return type_table[column->type].size;
    size_t longest = 1; /* a type of no characters means any number of them */
    for (int64_t code = 0; code < dictionary->count; code++) {
        struct text text = dictionary_text(dictionary, code);
        size_t points = 0;
        for (size_t i = 0; i < text.length; i++)
            points += ((unsigned char)text.at[i] & 0xc0) != 0x80;
        longest = points > longest ? points : longest;
    }
    return longest * POINT_BYTES;
}

void npy_add_type(struct strbuf *out, const struct column *column, size_t width)
{
    const char *name = type_names[column->logical.kind];
    if (column->logical.kind == LOGICAL_TEXT)
        strbuf_printf(out, "<U%zu", width / POINT_BYTES);
    else
        strbuf_puts(out, name ? name : type_table[column->type].numpy);
}

bool npy_is_as_stored(const struct column *column)
{
    return column->store == column->type && !column->validity && column->logical.kind != LOGICAL_TEXT &&
           npy_width(column) == type_table[column->type].size;
}

static void encode_text(const struct column *column, size_t width, int64_t row, char *to)
{
    struct text text = dictionary_text(column->logical.dictionary, column_get_int(column, row));
    memset(to, 0, width);
    for (size_t i = 0; i < text.length; to += POINT_BYTES) {
        uint32_t code = 0xfffd;
        const size_t size = utf8_decode(text.at + i, text.length - i, &code);
        memcpy(to, &code, sizeof code);
        i += size ? size : 1;
    }
}

void npy_encode(const struct column *column, size_t width, int64_t row, char *to)
{
    if (column->logical.kind == LOGICAL_TEXT) {
        encode_text(column, width, row, to);
    } else if (type_table[column->type].kind == KIND_FLOAT) {
        double number = column_get_float(column, row);
        float narrow = (float)number;
        memcpy(to, column->type == TYPE_F32 ? (const void *)&narrow : (const void *)&number, width);
    } else {
        int64_t integer = column_is_missing(column, row) ? INT64_MIN : column_get_int(column, row);
        memcpy(to, &integer, width); /* the low bytes are the element */
    }
}
