/* Plots of a relation: lines or points of one or several series, or bars (engine/plan/plot_columns.h). */
#ifndef RQL_REPL_PLOT_PLOT_H
#define RQL_REPL_PLOT_PLOT_H

#include "repl/print/print.h"

#include "parser/ast.h"

/* Checks that the relation, whose rows can be read, can be drawn. Adds an error at `span`. */
enum status plot_check(const struct relation *relation, struct span span, struct diags *diags);

/* Appends the checked plot, as large as the terminal: lines and points in braille, bars as horizontal blocks. */
void plot_print(struct strbuf *out, const struct relation *relation, const struct print_style *style,
                const atomic_int *cancel);

/* Writes the checked plot to an .svg file, or to a .png file by gnuplot. */
enum status plot_save(const struct relation *relation, const struct name *path, const atomic_int *cancel,
                      struct diags *diags);

#endif
