/* Several devices as one backend: each takes a share of a task's rows, in the ratio of their speeds, on a thread of its
 * own.
 *
 * What can be shared out is what ends in aggregates that merge. Each device always gets the same contiguous part of a
 * column, so that it can keep it. All else runs on the fastest device alone. Partial results are exact and merge in the
 * order of rows, so the result does not depend on the shares. */
#ifndef RQL_ENGINE_BACKEND_MULTI_DEVICE_H
#define RQL_ENGINE_BACKEND_MULTI_DEVICE_H

#include "engine/backend/backend.h"

enum { MOST_MEMBERS = 16 };

/* A backend of these, 1 to MOST_MEMBERS of them, which it closes. A part of fewer rows than `least` is not worth a
 * device of its own; 0: some million. */
struct backend *multi_device_open(struct backend *const *members, size_t count, int64_t least);

#endif
