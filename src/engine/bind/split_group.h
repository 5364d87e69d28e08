/* Groups of which a server computes the aggregates, and what is computed of these is computed here. */
#ifndef RQL_ENGINE_BIND_SPLIT_GROUP_H
#define RQL_ENGINE_BIND_SPLIT_GROUP_H

#include "engine/bind/bind_internal.h"

/* The pipeline with its stage k, `group K: stddev(x) / mean(x)`, as two: `group K: stddev(x) as a, mean(x) as b` and
 * `map K, a / b`. NULL: it is no such group. */
struct pipeline *split_group(struct binder *binder, const struct pipeline *pipeline, size_t k);

#endif
