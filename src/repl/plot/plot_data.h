/* A relation as what is drawn. */
#ifndef RQL_REPL_PLOT_PLOT_DATA_H
#define RQL_REPL_PLOT_PLOT_DATA_H

#include "engine/plan/plot_columns.h"
#include "engine/storage/column.h"

#include <stdatomic.h>

/* The rows of a series. */
struct plot_series {
    const char *name;
    const struct column *values;
    int64_t row_count; /* of the key: the rows that have it are in `rows`; -1: all rows are of the series */
    int64_t *rows;
};

/* The columns and series; what they need is in the arena. */
struct plot_data {
    struct plot_columns columns;
    const struct relation *relation;
    struct plot_series series[PLOT_SERIES];
    size_t series_count;
    const char **names; /* bars: texts in the order in which they come */
    size_t name_count;
    double *bars; /* of name n and series s: bars[n * series_count + s]; NaN: there is none */
};

/* What keeps a relation from being drawn; */
enum plot_data_fault {
    PLOT_DATA_FINE,
    PLOT_DATA_COLUMNS,
    PLOT_DATA_MANY_SERIES,
    PLOT_DATA_MANY_BARS,
    PLOT_DATA_REPEATED /* a bar of a series has two values */
};
enum plot_data_fault plot_data_init(struct plot_data *data, const struct relation *relation, struct arena *arena);

/* The bounds of the bars' values and 0. */
void plot_bar_bounds(const struct plot_data *data, double *least, double *greatest);

/* The rows of the series, and the row number of the i-th. */
int64_t plot_series_rows(const struct plot_data *data, const struct plot_series *series);
int64_t plot_series_row(const struct plot_series *series, int64_t i);

/* An element as a number: decimals as numbers, dates and times as their integers, NaN if it is missing or text. */
double plot_number(const struct column *column, int64_t row);

/* Lines or points reduced to pixels, whatever the number of rows. */
struct plot_shape {
    bool points;           /* else a line: one vertical stroke per pixel column, from lowest[x] to highest[x] */
    int *lowest, *highest; /* line: per pixel column; lowest > highest: none */
    unsigned char *marks;  /* points: per pixel, in rows from the bottom */
};

struct plot {
    const char *x_name, *y_name;        /* y_name "": of several columns */
    struct logical_type x_type, y_type; /* decimals are drawn as numbers, others as their integers */
    size_t width, height;               /* pixels; (0, 0) is bottom left */
    bool empty;                         /* no finite point without a missing coordinate */
    double x_least, x_greatest, y_least, y_greatest;
    bool whole_x, whole_y; /* integers */
    struct plot_shape shapes[PLOT_SERIES];
};

/* Reduces lines and points, allocating in the arena. Returns false if cancelled. */
bool plot_reduce(struct plot *plot, const struct plot_data *data, size_t width, size_t height, struct arena *arena,
                 const atomic_int *cancel);

/* Whether the pixel is set in series k. */
bool plot_shape_has(const struct plot *plot, size_t k, size_t x, size_t y);

/* Appends a value of an axis; `step` is about how far apart such labels are. */
void plot_add_label(struct strbuf *out, struct logical_type type, bool whole, double number, double step);

#endif
