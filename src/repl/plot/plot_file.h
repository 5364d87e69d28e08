/* Drawings in files. Not included outside of this folder. */
#ifndef RQL_REPL_PLOT_PLOT_FILE_H
#define RQL_REPL_PLOT_PLOT_FILE_H

#include "repl/plot/plot_data.h"

#include "base/diag.h"

/* Pixels. */
enum { ACROSS = 800, DOWN = 500, LEFT = 100, RIGHT = 20, TOP = 20, BELOW = 60 };

void svg_add_plot(struct strbuf *out, const struct plot *plot, const struct plot_data *data);
void svg_add_bars(struct strbuf *out, const struct plot_data *data);

/* Appends the plot or, if that is NULL, the bars, as gnuplot draws them. False with an error at `span`. */
bool png_add(struct strbuf *out, const struct plot *plot, const struct plot_data *data, struct span span,
             struct diags *diags);

#endif
