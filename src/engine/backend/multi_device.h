/* Several devices as one backend, each running a share of a task's rows in proportion to its speed, on its own thread.
 *
 * Only tasks that end in aggregates that merge are split; all others run on the fastest device. Each device gets the
 * same contiguous part of a column each time, so that it can keep it. Partial results are exact and merge in the order
 * of rows, so the result does not depend on the shares. */
#ifndef RQL_ENGINE_BACKEND_MULTI_DEVICE_H
#define RQL_ENGINE_BACKEND_MULTI_DEVICE_H

#include "engine/backend/backend.h"

enum { MOST_CHILDREN = 16 };

/* Combines `count` backends, 1 to MOST_CHILDREN, and closes them when it is closed. A part has at least `least` rows;
 * 0: the default, 4 million. */
struct backend *multi_device_open(struct backend *const *children, size_t count, int64_t least);

#endif
