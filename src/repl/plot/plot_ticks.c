#include "repl/plot/plot_file.h"

#include "engine/values/calendar_edges.h"
#include "repl/plot/time_label.h"

#include <math.h>
#include <stdlib.h>

enum { TICKS = 6 };

/* Edges of calendar units. */
static void choose_times(struct ticks *ticks, struct logical_type type, double least, double greatest)
{
    int64_t *edges, intervals = calendar_edges_of(type, time_of_number(least), time_of_number(greatest), TICKS, &edges);
    ticks->step = (double)edges[1] - (double)edges[0];
    for (int64_t k = 0; k <= intervals && ticks->count < MOST_TICKS; k++) {
        if ((double)edges[k] >= least && (double)edges[k] <= greatest)
            ticks->at[ticks->count++] = (double)edges[k];
    }
    free(edges);
}

/* Round numbers. */
static void choose_numbers(struct ticks *ticks, double least, double greatest)
{
    const double span = greatest / TICKS - least / TICKS;
    if (!(span > 0) || !isfinite(span)) {
        *ticks = (struct ticks){.at = {least}, .count = 1, .step = least};
        return;
    }
    double step = pow(10, floor(log10(span)));
    const double part = span / step;
    step *= part > 5 ? 10 : part > 2 ? 5 : part > 1 ? 2 : 1;
    const double first = ceil(least / step);
    const int count = (int)(floor(greatest / step) - first) + 1;
    *ticks = (struct ticks){.count = count < MOST_TICKS ? count : MOST_TICKS, .step = step};
    for (int k = 0; k < ticks->count; k++)
        ticks->at[k] = (first + k) * step;
}

struct ticks ticks_choose(struct logical_type type, double least, double greatest)
{
    struct ticks ticks = {.count = 0};
    if (logical_is_time(type))
        choose_times(&ticks, type, least, greatest);
    else
        choose_numbers(&ticks, least, greatest);
    return ticks;
}
