/* Tables of text, for reports about columns, tasks and settings, in the output format of relations. */
#ifndef RQL_REPL_PRINT_TEXT_TABLE_H
#define RQL_REPL_PRINT_TEXT_TABLE_H

#include "repl/print/print.h"

struct text_column {
    const char *title;
    bool text; /* left-aligned and, in JSON, quoted; else a number, or a date, which JSON quotes too */
};

struct text_table {
    struct arena *arena;
    const struct text_column *columns;
    size_t column_count;
    const char **cells; /* in row-major order; "" is empty, null in JSON */
    size_t row_count, capacity;
};

/* Starts an empty table; the columns must outlive it. */
void text_table_init(struct text_table *table, struct arena *arena, const struct text_column *columns, size_t count);

/* Adds a row of copies, with control bytes escaped, and clears the buffers. */
void text_table_add(struct text_table *table, struct strbuf *cells);

/* Appends the table in the format of the style; binary formats print as TSV. */
void text_table_print(struct strbuf *out, const struct text_table *table, const struct print_style *style);

#endif
