/* Moving aggregates of groups whose rows are anywhere. Measured against sorting the rows by group, Xeon with two
 * threads, 10^4 and 10^7 rows: 3 to 9 times as fast. */
#ifndef RQL_ENGINE_OPERATORS_MOVING_BY_GROUP_H
#define RQL_ENGINE_OPERATORS_MOVING_BY_GROUP_H

#include "engine/operators/moving.h"

/* The operator's windows are all rows of a group up to each (first: all from it on; both: all). Results as of
 * moving_run; STATUS_FAILED, without an error: not enough memory. */
enum status moving_by_group(struct moving *moving, const struct workers *workers);

#endif
