/* The columns of an Arrow file: a struct has one for each of its fields, lists are one. */
#ifndef RQL_ENGINE_ARROW_COLUMNS_H
#define RQL_ENGINE_ARROW_COLUMNS_H

#include "engine/arrow/column_reading.h"

struct arrow_columns {
    struct arrow_column *at;
    size_t count, capacity;
};

/* A column, or one of those that the elements of lists have. */
struct arrow_column {
    const char *name; /* of elements that are no structs: empty */
    struct arrow_field *field;
    struct arrow_columns elements; /* of lists; else none */
};

/* Finds the columns of all fields that can be read. */
void arrow_columns_find(const struct arrow_schema *schema, struct arena *arena, struct arrow_columns *columns);

/* Whether some row may be without a value. */
bool arrow_is_nullable(const struct arrow_file *file, const struct arrow_field *field);

/* The rows of a field in one batch, and in all. */
int64_t arrow_rows_of(const struct arrow_batch *batch, const struct arrow_field *field);
int64_t arrow_column_rows(const struct arrow_file *file, const struct arrow_field *field);

/* What a reader says of a column; the caller has a reference to the store of lists. */
struct reader_column arrow_column_describe(const struct arrow_file *file, const struct arrow_column *column);

struct arrow_lists {
    const struct format_job *job;
    const struct arrow_file *file;
};

/* Makes a column of what is read of its leaves, of which *next is the first; moves that behind them. */
enum status arrow_column_make(const struct arrow_lists *lists, const struct arrow_column *column,
                              struct column_reading **next, struct column **made);

#endif
