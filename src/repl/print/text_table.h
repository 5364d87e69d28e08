/* Tables of texts: what the shell tells of columns, tasks and devices, in the format that relations have. */
#ifndef RQL_REPL_PRINT_TEXT_TABLE_H
#define RQL_REPL_PRINT_TEXT_TABLE_H

#include "repl/print/print.h"

struct text_column {
    const char *title;
    bool text; /* words: aligned left and, in JSON, quoted */
};

struct text_table {
    struct arena *arena;
    const struct text_column *columns;
    size_t column_count;
    const char **cells; /* row after row; "" is nothing, and null in JSON */
    size_t row_count, capacity;
};

/* An empty table of these columns, which outlive it. */
void text_table_init(struct text_table *table, struct arena *arena, const struct text_column *columns, size_t count);

/* Adds a row of copies, without control bytes; clears the buffers for the next one. */
void text_table_add(struct text_table *table, struct strbuf *cells);

/* Appends it as the style wants relations; formats of bytes are printed like TSV. */
void text_table_print(struct strbuf *out, const struct text_table *table, const struct print_style *style);

#endif
