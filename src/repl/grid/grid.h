/* A table that fills the terminal and scrolls over any number of rows and columns. Only what is shown is read or
 * computed. */
#ifndef RQL_REPL_GRID_GRID_H
#define RQL_REPL_GRID_GRID_H

#include "engine/formats/file_cache.h"
#include "engine/run/run.h"
#include "repl/print/print.h"

/* What a grid uses; borrowed. */
struct grid_host {
    struct runner *runner;
    struct file_cache *file_cache;
    atomic_int *cancel; /* set by Ctrl-C; the grid clears it */
    int signals;        /* a non-blocking pipe of the numbers of caught signals */
};

/* Whether standard input and output are a terminal that a grid can be drawn on. */
bool grid_is_possible(const struct print_style *style);

/* Shows the relation until the user leaves. *relation, a reference, becomes the relation as it was shown last, which
 * may have been sorted. Adds an error at `span` if rows cannot be read. */
enum status grid_show(const struct grid_host *host, struct relation **relation, const struct print_style *style,
                      struct span span, struct diags *diags);

#endif
