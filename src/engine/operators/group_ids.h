/* The number of each row's group, in the order of the keys. */
#ifndef RQL_ENGINE_OPERATORS_GROUP_IDS_H
#define RQL_ENGINE_OPERATORS_GROUP_IDS_H

#include "engine/sorting/sort_rows.h"

/* Writes ids[row] for all rows, at least one, and sets the number of groups. STATUS_OK, STATUS_CANCELLED, or
 * STATUS_FAILED, without an error: not enough memory. */
enum status group_ids(const struct keys *keys, int64_t rows, const struct workers *workers, uint32_t *ids,
                      int64_t *groups);

#endif
