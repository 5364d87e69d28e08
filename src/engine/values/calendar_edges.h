/* Intervals of whole calendar units, for histograms and axes of dates, timestamps and durations. */
#ifndef RQL_ENGINE_VALUES_CALENDAR_EDGES_H
#define RQL_ENGINE_VALUES_CALENDAR_EDGES_H

#include "engine/values/logical_type.h"

/* Divides lo..hi into about `about` intervals of the same unit: so many years, months, weeks (from Monday), days,
 * hours, minutes, seconds or parts of a second. Sets *edges, malloc'd, to their lower edges and the end of the last
 * one, and returns their number: lo is in the first, hi in the last. The outer edges are cut to 64 bits, of dates
 * to 32. */
int64_t calendar_edges(enum logical kind, int64_t lo, int64_t hi, int64_t about, int64_t **edges);

/* The same of times of this type: of instants with the units of their zone's clocks, as far as these go on. */
int64_t calendar_edges_of(struct logical_type logical, int64_t lo, int64_t hi, int64_t about, int64_t **edges);

/* The number, from 0, of the interval that has a value from edges[0] to edges[intervals]; that end is in the last. */
int64_t calendar_interval(const int64_t *edges, int64_t intervals, int64_t value);

#endif
