/* Drawings: one column as a line over the rows' numbers, or the second of two over the first as points. */
#ifndef RQL_REPL_PRINT_PLOT_H
#define RQL_REPL_PRINT_PLOT_H

#include "repl/print/print.h"

#include "parser/ast.h"

/* A drawing reduced to its pixels: what is drawn no longer depends on how many rows there were. */
struct plot {
    const char *x_name, *y_name;
    size_t width, height; /* pixels; (0, 0) is left below */
    bool points;          /* else a line: in each pixel column one stroke from lowest[x] to highest[x] */
    bool empty;           /* nothing is finite */
    double x_least, x_greatest, y_least, y_greatest;
    bool whole_x, whole_y; /* integers */
    int *lowest, *highest; /* line: of each pixel column; lowest > highest: none */
    unsigned char *marks;  /* points: of each pixel, row after row from below */
};

/* Reduces a relation of one or two columns; what is in the arena lives as long as it. False if cancelled. */
bool plot_reduce(struct plot *plot, const struct relation *relation, size_t width, size_t height, struct arena *arena,
                 const atomic_int *cancel);

/* Appends the drawing in braille, as large as the terminal allows. */
void plot_print(struct strbuf *out, const struct relation *relation, const struct print_style *style,
                const atomic_int *cancel);

/* Draws into a file: .svg, or .png by gnuplot where that is installed (plot_file.c). */
enum status plot_save(const struct relation *relation, const struct name *path, const atomic_int *cancel,
                      struct diags *diags);

#endif
