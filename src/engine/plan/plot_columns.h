/* What `plot` takes the columns of a relation for. */
#ifndef RQL_ENGINE_PLAN_PLOT_COLUMNS_H
#define RQL_ENGINE_PLAN_PLOT_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

enum { PLOT_SERIES = 8, PLOT_BARS = 200 /* the most that can be told apart */ };

/* A text that stands first names bars. Otherwise the first of several columns is x, and a single column is drawn over
 * the row numbers. Another text tells which rows are of which series; without it each column of numbers is one. */
struct plot_columns {
    bool bars;
    int x;                   /* the column of x or of the names of bars; -1: the row number */
    int key;                 /* the column that names the series; -1: there is none */
    int values[PLOT_SERIES]; /* the columns of numbers: one if there is a key */
    size_t value_count;
};

enum plot_fault { PLOT_FINE, PLOT_NO_NUMBERS, PLOT_MANY_SERIES, PLOT_MANY_TEXTS };

/* `text` tells which of the columns are text. */
enum plot_fault plot_columns_choose(struct plot_columns *columns, const bool *text, size_t count);

#endif
