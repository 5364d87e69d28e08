/* Rows as text. What is saved to a file and what is printed without a terminal come from here. */
#ifndef RQL_ENGINE_ENCODE_H
#define RQL_ENGINE_ENCODE_H

#include "column.h"
#include "formats.h"

/* One way of writing rows. */
struct row_style {
    /* Appends the line with the columns' names; NULL if the style has none. */
    void (*header)(struct strbuf *out, const struct relation *relation);
    /* Appends one row, its newline included. */
    void (*row)(struct strbuf *out, const struct relation *relation, int64_t row);
};

/* Tabs between values; in names, tabs, newlines and backslashes are escaped as \t, \n, \\. */
extern const struct row_style style_tsv;
/* RFC 4180, with plain newlines. */
extern const struct row_style style_csv;
/* One JSON object a line. NaN and the infinities, which JSON lacks, are null; bytes that are no UTF-8 become U+FFFD. */
extern const struct row_style style_jsonl;

/* Appends element `row` as scalar_print would print it. */
void encode_element(struct strbuf *out, const struct column *column, int64_t row);

/* One number a line: for relations of one column. */
extern const struct row_style style_text;

/* The write function of formats.h: all rows in the format's style, after a header where it has one. */
enum status write_styled(const struct format *format, const struct relation *relation, struct writer *writer,
                         struct span span, struct diags *diags);

#endif
