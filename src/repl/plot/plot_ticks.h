/* Ticks of the axes of drawings in files. */
#ifndef RQL_REPL_PLOT_PLOT_TICKS_H
#define RQL_REPL_PLOT_PLOT_TICKS_H

#include "engine/values/logical_type.h"

enum { MOST_TICKS = 24 };

struct ticks {
    double at[MOST_TICKS];
    int count;
    double step; /* about, between them */
};

/* About six round numbers, or edges of calendar units, between the bounds. */
struct ticks ticks_choose(struct logical_type type, double least, double greatest);

#endif
