/* How much work a task is: what the choice between backends (backend_choice.h) goes by. */
#ifndef RQL_ENGINE_BACKEND_COST_FEATURES_H
#define RQL_ENGINE_BACKEND_COST_FEATURES_H

#include "engine/backend/cost_model.h"
#include "engine/backend/zone_prune.h"

struct cost_features {
    struct load load;
    int64_t rows;      /* that it looks at */
    int64_t residency; /* bytes of inputs that only a device has (residency.h) */
    uint64_t shape;    /* equal for tasks that run the same way, whatever their literals are */
    const struct task *task;
    struct column *const *columns; /* its inputs */
    int64_t begin, end;            /* the rows of those between the first and the last that it looks at */
    bool *reads;                   /* of each input, whether it is read at all; in the arena of the job's diags */
};

/* The rows of the job from its beginning on that are among the survivors. */
void cost_features_of_job(struct cost_features *work, const struct job *job, const struct row_ranges *ranges);
void cost_features_of_operator(struct cost_features *work, const struct operator_job *job);

/* The load of so many of the rows. */
struct load work_part(const struct cost_features *work, int64_t rows);

#endif
