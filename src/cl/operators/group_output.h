/* The records of groups as the columns of a result, by all of the host's processors. */
#ifndef RQL_CL_OPERATORS_GROUP_OUTPUT_H
#define RQL_CL_OPERATORS_GROUP_OUTPUT_H

#include "cl/operators/group_keys.h"
#include "cl/operators/group_record.h"

#include "base/parallel.h"

struct groups {
    const struct break_job *job;
    const struct crew *crew;
    const struct cells *cells;
    const size_t *member_of; /* of each aggregate, as from cells_plan */
    const struct keyset *keyset;
    const struct column *records;
    /* Records stand at the places of their keys, which are integers, and there are empty ones; unless these say what is
     * which: */
    struct column *const *keys; /* of each record */
    const uint64_t *order;      /* of the records by their keys */
    int64_t count;
};

/* Makes the job's results. *flagged: a sum does not fit. STATUS_UNABLE: no memory. */
enum status groups_write(const struct groups *groups, bool *flagged);

/* The keys of the rows that a column of u32 lists, as columns for `keys` above; STATUS_UNABLE if there is no memory.
 * groups_free_keys is due in any case. */
enum status groups_keys(const struct keyset *keyset, const struct crew *crew, const struct column *rows,
                        struct column **keys);
void groups_free_keys(const struct keyset *keyset, struct column **keys);

#endif
