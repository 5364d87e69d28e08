/* Shared by groups of whole columns and of rows as they are computed (group_stream.h). */
#ifndef RQL_ENGINE_OPERATORS_GROUP_BY_H
#define RQL_ENGINE_OPERATORS_GROUP_BY_H

#include "engine/backend/backend.h"
#include "engine/grouping/grouping.h"
#include "engine/sorting/sort_rows.h"

#include <stdatomic.h>

/* Aggregates for internal use: COUNT always, FIRST if keys are fetched by row. */
enum { COUNT, FIRST, FIXED_AGGREGATES };

struct grouped {
    const struct operator_job *job;
    struct packed_keys word;
    struct column *constant; /* the key where there is none */
    bool by_row;             /* keys are read from each group's first row, because codes do not determine their bits */
    struct group_aggregate *group_aggs;
    size_t group_agg_count;
    size_t *group_aggregate_of; /* of each of the task's aggregates: the one of group_aggs */
    bool sorts;                 /* groups are found in no order, and their order is read */
    _Atomic bool flagged;
};

/* For keys that are set. Aggregates that need the same states share them. False: one is not supported. */
bool grouped_plan_aggregates(struct grouped *grouped);

/* How rows are grouped, once keys and aggregates are planned. */
struct grouping grouped_grouping(struct grouped *grouped, const struct workers *workers);

/* Finishes the results, or releases them unless `status` is OK and nothing was flagged; records the error. */
void grouped_finish_results(struct grouped *grouped, enum status status, bool *flagged); /* records no error */
enum status grouped_finish(struct grouped *grouped, enum status status, bool *flagged);

void grouped_free(struct grouped *grouped); /* but not its results */

/* Groups the job's rows, and sets its results. */
typedef enum status group_fn(struct grouped *grouped, const struct workers *workers);

/* The same where memory has no room for `row_bytes` bytes of each row: calls `group` for one part of the rows after
 * another (row_parts.h), in the order of their keys. */
enum status group_in_parts(struct grouped *grouped, int64_t row_bytes, const struct workers *workers, group_fn *group);

#endif
