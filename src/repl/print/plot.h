/* Plots: one column as a line over the row number, or two columns: a line if the
 * first one increases from row to row, else points. */
#ifndef RQL_REPL_PRINT_PLOT_H
#define RQL_REPL_PRINT_PLOT_H

#include "repl/print/print.h"

#include "parser/ast.h"

/* A plot reduced to pixels, whatever the number of rows. */
struct plot {
    const char *x_name, *y_name;
    struct logical_type x_type, y_type; /* decimals are drawn as numbers, others as their integers */
    size_t width, height;               /* pixels; (0, 0) is bottom left */
    bool points; /* else a line: one vertical stroke per pixel column, from lowest[x] to highest[x] */
    bool empty;  /* no finite point without a missing coordinate */
    double x_least, x_greatest, y_least, y_greatest;
    bool whole_x, whole_y; /* integers */
    int *lowest, *highest; /* line: per pixel column; lowest > highest: none */
    unsigned char *marks;  /* points: per pixel, in rows from the bottom */
};

/* Reduces a relation of one or two columns, allocating in the arena. Returns false if cancelled. */
bool plot_reduce(struct plot *plot, const struct relation *relation, size_t width, size_t height, struct arena *arena,
                 const atomic_int *cancel);

/* Appends the plot in braille, as large as the terminal. */
void plot_print(struct strbuf *out, const struct relation *relation, const struct print_style *style,
                const atomic_int *cancel);

/* Writes an .svg file, or a .png file by gnuplot (plot_file.c). */
enum status plot_save(const struct relation *relation, const struct name *path, const atomic_int *cancel,
                      struct diags *diags);

#endif
