/* The records of groups as the columns of a result, by all of the host's processors. */
#ifndef RQL_CL_OPERATORS_GROUP_OUTPUT_H
#define RQL_CL_OPERATORS_GROUP_OUTPUT_H

#include "cl/operators/group_keys.h"
#include "cl/operators/group_record.h"

#include "base/parallel.h"

struct group_output {
    const struct operator_job *job;
    const struct workers *workers;
    const struct record_layout *layout;
    const size_t *field_of; /* of each aggregate, as from group_record_plan */
    const struct group_keys *group_keys;
    const struct column *records;
    /* Records stand at the places of their keys, which are integers, and there are empty ones; unless these say what is
     * which: */
    struct column *const *keys; /* of each record */
    const uint64_t *order;      /* of the records by their keys */
    int64_t count;
};

/* Makes the job's results. *flagged: a sum does not fit. STATUS_UNABLE: no memory. */
enum status groups_write(const struct group_output *groups, bool *flagged);

/* The keys of the rows that a column of u32 lists, as columns for `keys` above; STATUS_UNABLE if there is no memory.
 * groups_free_keys is due in any case. */
enum status groups_keys(const struct group_keys *group_keys, const struct workers *workers, const struct column *rows,
                        struct column **keys);
void groups_free_keys(const struct group_keys *group_keys, struct column **keys);

#endif
