/* Columns of some rows of a file, which are kept for statements that need the same rows again: a selective question is
 * asked twice. */
#ifndef RQL_ENGINE_FORMATS_KEPT_ROWS_H
#define RQL_ENGINE_FORMATS_KEPT_ROWS_H

#include "engine/storage/row_set.h"

/* Some rows, and the columns that have been read of them. */
struct kept_rows {
    size_t count; /* ranges of rows */
    int64_t *begins, *ends;
    struct column **columns; /* of each column of the file; NULL: it was not read */
    uint64_t used;           /* the last statement that used them */
};

/* Those of one file. */
struct kept_row_sets {
    struct kept_rows *at;
    size_t count, capacity;
};

/* The one of these rows, used by statement `now`; adds one without columns if there is none. */
struct kept_rows *kept_rows_of(struct kept_row_sets *sets, const struct row_set *rows, size_t width, uint64_t now);

/* The bytes that they take. */
int64_t kept_rows_bytes(const struct kept_rows *kept, size_t width);

void kept_rows_release(struct kept_rows *kept, size_t width);
void kept_rows_free(struct kept_row_sets *sets, size_t width);

/* The bytes that a column takes in memory, its dictionary included. */
int64_t kept_column_bytes(const struct column *column);

#endif
