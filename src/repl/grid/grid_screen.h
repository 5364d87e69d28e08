/* What a grid shows: a part of a table, and how that is drawn. */
#ifndef RQL_REPL_GRID_GRID_SCREEN_H
#define RQL_REPL_GRID_GRID_SCREEN_H

#include "repl/print/print.h"

/* The part of a table on the screen, and the cell under the cursor. */
struct grid_view {
    int64_t rows;
    size_t columns;
    int64_t top, row;    /* the first row shown, and that of the cursor */
    size_t left, column; /* the first column shown after the frozen ones, and that of the cursor */
    size_t frozen;       /* first columns that are always shown */
};

enum { GRID_OTHER_LINES = 3 /* names, types, status */ };

/* The rows that fit. */
int64_t grid_page(const struct print_style *style);

/* Moves the part that is shown so that the cursor, which is clamped to the table, is in it. */
void grid_view_follow(struct grid_view *view, const struct print_style *style);

/* The columns that may be shown: the frozen ones and those from view->left on, at most as many as can fit. Returns how
 * many; their numbers are in `numbers`, which has room for all columns. */
size_t grid_view_columns(const struct grid_view *view, const struct print_style *style, size_t *numbers);

/* Draws `shown`, the columns with these numbers, whose rows on the screen can be read. Appends the whole screen; the
 * last line is `status`. Returns how many of the columns fit. */
size_t grid_draw(struct strbuf *out, const struct grid_view *view, const struct relation *shown, const size_t *numbers,
                 const struct print_style *style, const char *status);

#endif
