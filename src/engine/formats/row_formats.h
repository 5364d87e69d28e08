/* The row formats for text output: printing and saving use the same. */
#ifndef RQL_ENGINE_FORMATS_ROW_FORMATS_H
#define RQL_ENGINE_FORMATS_ROW_FORMATS_H

#include "engine/formats/cell_encode.h"
#include "engine/formats/row_encode.h"

/* Tab-separated values; tabs, line breaks and backslashes in names and text are escaped as \t, \n, \r, \\. A missing
 * value is nothing, so empty text is "". In quotes, too, is text that has blanks at its ends or begins with a quote,
 * and a name that would read as a value. */
extern const struct row_style style_tsv;
/* RFC 4180 with LF line ends. A missing value is nothing and empty text is "". A name that would read as a value, or
 * that has another separator in it, is in quotes. */
extern const struct row_style style_csv;
/* One JSON object per line, or an array of them. Missing values are null, as are NaN and infinities, which JSON lacks;
 * dates, timestamps and durations are strings. In names, invalid UTF-8 becomes U+FFFD. */
extern const struct row_style style_jsonl;
extern const struct row_style style_json;
/* A table in GitHub Flavored Markdown. */
extern const struct row_style style_markdown;
/* One value per line, without names; for relations of one column. Text that would not read back is refused. */
extern const struct row_style style_text;

/* Appends a name with invalid UTF-8 replaced by U+FFFD. */
void add_clean_name(struct strbuf *out, const char *name);

/* Appends a single value as JSON. */
void json_add_scalar(struct strbuf *out, const struct scalar *scalar);

/* json_frame.c: rows as JSON objects, with objects in them: columns whose names are paths are fields. */

/* Fills in what is before the values, their order, and the objects: at each, `separator` begins a row. */
void json_fill_objects(struct frame *frame, const struct relation *relation, const char *separator);

/* Reports a row in which a column has a value and fields, too: `mix` and `mix.a`. */
enum status json_check_objects(const struct relation *relation, struct span span, struct diags *diags);

#endif
