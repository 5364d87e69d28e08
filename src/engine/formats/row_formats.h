/* The ways of writing rows as text. What prints and what saves a table takes one of them. */
#ifndef RQL_ENGINE_FORMATS_ROW_FORMATS_H
#define RQL_ENGINE_FORMATS_ROW_FORMATS_H

#include "engine/formats/row_encode.h"

/* Tabs between values; in names, tabs, newlines and backslashes are escaped as \t, \n, \\. */
extern const struct row_style style_tsv;
/* RFC 4180, with plain newlines. A name that would read as a number is quoted. */
extern const struct row_style style_csv;
/* One JSON object a line, or an array of them. NaN and the infinities, which JSON lacks, are null; bytes that are no
 * UTF-8 become U+FFFD. */
extern const struct row_style style_jsonl;
extern const struct row_style style_json;
/* A table as GitHub's Markdown has it. */
extern const struct row_style style_markdown;
/* One number a line, without names: for relations of one column. */
extern const struct row_style style_text;

/* Appends a name with what is no UTF-8 in it replaced by U+FFFD. */
void add_clean_name(struct strbuf *out, const char *name);

#endif
