/* The columns of a printed table: how wide they are and how their fields are written. */
#ifndef RQL_REPL_PRINT_TABLE_LAYOUT_H
#define RQL_REPL_PRINT_TABLE_LAYOUT_H

#include "repl/print/print.h"

struct table_column {
    const struct column *column;
    const char *name;
    size_t width;             /* in cells */
    bool is_text;             /* aligned to the left and cut to the width; others are aligned to the right */
    size_t min_width;         /* to which the text may be cut */
    bool grouped;             /* commas between thousands in all numbers, because the longest needs them */
    size_t whole;             /* of floats without an exponent: the most cells before the point */
    size_t decimals;          /* and the most digits after it, which all get; 0: there are no such floats */
    bool long_exponents;      /* a float with an exponent has more digits than help */
    bool rounded;             /* to these decimals, because more digits would not help a reader */
    double largest, smallest; /* magnitudes of these floats that are not 0; 0: there are none */
};

struct table_layout {
    struct table_column *columns; /* malloc'd */
    size_t count;                 /* columns that fit: at least one */
    size_t width;                 /* of all of them */
    bool colour;
    struct strbuf scratch;
};

/* An upper bound of the number of columns that fit the width, whatever their values. */
size_t table_most_columns(const struct relation *relation, const struct print_style *style);

/* Rows begin..end-1. */
struct row_part {
    int64_t begin, end;
};
enum { SHOWN_PARTS = 2 };

/* Lays out the columns for the rows of both parts. If the relation is a histogram, both edges get commas alike. */
void table_layout_init(struct table_layout *layout, const struct relation *relation, bool histogram,
                       const struct row_part *parts, const struct print_style *style);
void table_layout_free(struct table_layout *layout);

/* Append a line of fields, without the newline. */
void table_add_names(struct strbuf *out, struct table_layout *layout);
void table_add_types(struct strbuf *out, struct table_layout *layout);
void table_add_dots(struct strbuf *out, struct table_layout *layout);
void table_add_row(struct strbuf *out, struct table_layout *layout, int64_t row);

/* The cells to the left of column k, and the name and an element of that column with what fills its width. */
size_t table_column_offset(const struct table_layout *layout, size_t k);
void table_add_name(struct strbuf *out, struct table_layout *layout, size_t k);
void table_add_element(struct strbuf *out, struct table_layout *layout, size_t k, int64_t row);

#endif
