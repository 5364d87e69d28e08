/* Quantiles of groups on a device: values are sorted by the number of their group, and picked. */
#ifndef RQL_CL_OPERATORS_GROUP_QUANTILE_H
#define RQL_CL_OPERATORS_GROUP_QUANTILE_H

#include "cl/operators/row_loop.h"

/* Creates the number of each row's group, in the order of the keys. STATUS_UNABLE: no kernel finds it, or the device
 * leaves sorts to the host. */
enum status group_quantile_ids(struct accelerator *accelerator, const struct operator_job *job, struct column **ids);

/* Fills the result of aggregate k, a quantile, for groups of counts[g] rows with values. */
enum status group_quantile_write(struct accelerator *accelerator, const struct operator_job *job, struct column *ids,
                                 size_t k, const struct column *counts);

#endif
