/* Drawings in files. Not included outside of this folder. */
#ifndef RQL_REPL_PLOT_PLOT_FILE_H
#define RQL_REPL_PLOT_PLOT_FILE_H

#include "repl/plot/plot_data.h"

#include "base/diag.h"
#include "engine/values/logical_type.h"

/* Pixels. */
enum { ACROSS = 800, DOWN = 500, LEFT = 100, RIGHT = 20, TOP = 20, BELOW = 60 };

void svg_add_plot(struct strbuf *out, const struct plot *plot, const struct plot_data *data);
void svg_add_bars(struct strbuf *out, const struct plot_data *data);

/* Appends the plot or, if that is NULL, the bars, as gnuplot draws them. False with an error at `span`. */
bool png_add(struct strbuf *out, const struct plot *plot, const struct plot_data *data, struct span span,
             struct diags *diags);

/* plot_ticks.c: ticks of the axes of drawings in files. */

enum { MOST_TICKS = 24 };

struct ticks {
    double at[MOST_TICKS];
    int count;
    double step; /* about, between them */
};

/* About six round numbers, or edges of calendar units, between the bounds. */
struct ticks ticks_choose(struct logical_type type, double least, double greatest);

#endif
