/* Fusion: one general rule. A task that only computes and filters is folded into the task that reads it.
 *
 * It covers RubiCL's seven (map-map, filter-filter, map-filter, filter-map, map-mapfilter, mapfilter-map,
 * mapfilter-filter) and the filter after a post-mapped mapfilter that RubiCL could not fuse; and zip of columns that
 * are computed from equally many rows without filters. */
#ifndef RQL_ENGINE_OPTIMIZE_FUSE_H
#define RQL_ENGINE_OPTIMIZE_FUSE_H

#include "engine/plan/task.h"

/* Makes in `fused` (initialised, same arena) an equivalent queue of as few tasks as possible; `queue` stays as it
 * is. Both are pruned. Columns are held by both. */
void fuse(const struct queue *queue, struct queue *fused);

#endif
