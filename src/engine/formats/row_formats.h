/* The row formats for text output: printing and saving use the same. */
#ifndef RQL_ENGINE_FORMATS_ROW_FORMATS_H
#define RQL_ENGINE_FORMATS_ROW_FORMATS_H

#include "engine/formats/row_encode.h"

/* Tab-separated values; tabs, newlines and backslashes in names are escaped as \t, \n, \\. */
extern const struct row_style style_tsv;
/* RFC 4180 with LF line ends. A name that would read as a number is quoted. */
extern const struct row_style style_csv;
/* One JSON object per line, or an array of them. NaN and infinities, which JSON lacks, are null; invalid UTF-8 becomes
 * U+FFFD. */
extern const struct row_style style_jsonl;
extern const struct row_style style_json;
/* A table in GitHub Flavored Markdown. */
extern const struct row_style style_markdown;
/* One number per line, without names; for relations of one column. */
extern const struct row_style style_text;

/* Appends a name with invalid UTF-8 replaced by U+FFFD. */
void add_clean_name(struct strbuf *out, const char *name);

#endif
