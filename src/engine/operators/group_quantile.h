/* Quantiles of groups: values are partitioned by group, and their order statistics selected. */
#ifndef RQL_ENGINE_OPERATORS_GROUP_QUANTILE_H
#define RQL_ENGINE_OPERATORS_GROUP_QUANTILE_H

#include "engine/sorting/sort_rows.h"

#include "engine/backend/backend.h"

/* Fills the results of the job's quantiles for its groups by these keys, of one word: `groups` rows that are reserved.
 * STATUS_OK, STATUS_CANCELLED, or STATUS_FAILED, without an error: not enough memory. */
enum status group_quantiles(const struct operator_job *job, const struct keys *keys, int64_t groups,
                            const struct workers *workers);

/* Whether the job has a quantile that is needed. */
bool has_quantiles(const struct operator_job *job);

/* group_ids.c: the number of each row's group, in the order of the keys. */

/* Writes ids[row] for all rows, at least one, and sets the number of groups. STATUS_OK, STATUS_CANCELLED, or
 * STATUS_FAILED, without an error: not enough memory. */
enum status group_ids(const struct keys *keys, int64_t rows, const struct workers *workers, uint32_t *ids,
                      int64_t *groups);

#endif
