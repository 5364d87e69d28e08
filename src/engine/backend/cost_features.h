/* Cost features: how much work a task is, for the backend choice. */
#ifndef RQL_ENGINE_BACKEND_COST_FEATURES_H
#define RQL_ENGINE_BACKEND_COST_FEATURES_H

#include "engine/backend/cost_model.h"
#include "engine/backend/zone_prune.h"

struct cost_features {
    struct load load;
    int64_t rows;       /* to run */
    int64_t away_bytes; /* of inputs that only a device has (residency.h) */
    uint64_t shape;     /* a hash, equal for tasks that differ only in literals */
    const struct task *task;
    struct column *const *columns; /* its inputs */
    int64_t begin, end;            /* the columns' rows from the first to the last that is run */
    bool *reads;                   /* of each input, whether it is read; in the arena of the job's diags */
};

/* Of the rows of the job that are in `ranges`. */
void cost_features_of_job(struct cost_features *work, const struct job *job, const struct row_ranges *ranges);
void cost_features_of_operator(struct cost_features *work, const struct operator_job *job);

/* The features of a task together with the group that takes its rows, with a shape of both. `then` is the load of the
 * group alone. */
void cost_features_with_group(struct cost_features *both, const struct cost_features *work, const struct task *group,
                              struct load *then);

/* How many rows are expected to pass the filters. */
double load_rows_passing(const struct cost_features *work);

/* The load of some of the rows. */
struct load load_of_rows(const struct cost_features *work, int64_t rows);

#endif
