/* Writes the records of groups to the columns of a result, on all processors of the host. */
#ifndef RQL_CL_OPERATORS_GROUP_OUTPUT_H
#define RQL_CL_OPERATORS_GROUP_OUTPUT_H

#include "cl/operators/group_keys.h"
#include "cl/operators/group_record.h"

#include "base/parallel.h"

struct group_output {
    const struct operator_job *job;
    const struct workers *workers;
    const struct record_layout *layout;
    const size_t *field_of; /* field of each aggregate, from group_record_plan */
    const struct group_keys *group_keys;
    const struct column *records;
    /* Without these, records are indexed by the code of their keys, which are integers, and may be empty: */
    struct column *const *keys; /* of each record */
    const uint64_t *order;      /* record numbers ordered by key */
    int64_t count;
    struct column **counts; /* of a quantile, aggregate k, created: the rows with values of each group */
};

/* Creates the job's results. Sets *flagged if a sum does not fit. STATUS_UNABLE: out of memory. */
enum status groups_write(const struct group_output *groups, bool *flagged);

#endif
