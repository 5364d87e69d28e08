/* The double-buffered state of kept_rounds.h: the columns before and after a round, and the ranges of their integers.
 */
#ifndef RQL_ENGINE_TASK_KEPT_STATE_H
#define RQL_ENGINE_TASK_KEPT_STATE_H

#include "engine/plan/loop.h"
#include "engine/task/kept_rounds.h"

/* A task of a round, ready to run. */
struct kept_task {
    struct task *task;
    struct job job;
    struct column **columns; /* that it reads, */
    struct column **written; /* and of its outputs; NULL where not needed, or an input as it is */
};

struct kept_queue {
    struct kept_task *tasks;
    size_t count;
};

struct kept_rounds {
    struct arena *arena;
    const struct runner *runner;
    const struct loop *loop;
    struct backend *backend;
    struct loop_frame frame; /* of the columns below */
    int64_t rows;
    struct column **state, **after; /* one reference each; the same where a round does not change the column */
    struct interval_of_column {
        int64_t lo, hi;
    } * ranges; /* of the columns of the state, if they are integers */
    bool *carried;
    struct column *step;
    struct column *
        *made; /* one reference each: of outputs that tasks read, and values that are the same in each round */
    size_t made_count, made_capacity;
    const struct task *
        *hoisted; /* of each task of the body, NULL at first: with what is the same in each round as columns */
    struct kept_queue queues[LOOP_QUEUES];
    struct backend_rounds *rounds;
    int64_t runs; /* of the backend's run_rounds */
    bool odd;     /* the state is in `after` */
    bool lost;    /* the device has failed */
    struct diags *diags;
};

/* A new column of `rows` elements that are not set, stored as `store`; NULL: no memory. */
struct column *kept_column_new(const struct kept_rounds *kept, enum type type, enum type store, int64_t rows);

/* Sets the ranges to those of the columns at the start. */
void kept_ranges_init(struct kept_rounds *kept, struct column *const *inputs);

/* Allocates the columns of the state, whose elements are not set. False: no memory. */
bool kept_state_make(struct kept_rounds *kept, struct column *const *inputs);

/* After range analysis of the body: whether the results of a round stay within the ranges of the state. If not, the
 * ranges are widened, in later attempts to all of 64 bits, where operations are checked. */
bool kept_ranges_hold(struct kept_rounds *kept, int attempt);

#endif
