/* `repeat`: queues that run round after round on their own result.
 *
 * The queues, those of a round and of its conditions, are bound once, to columns without data that stand for those of
 * the state. They are bound again if values come to be missing in a column, or if the number of rows changes. A round
 * with `while` ends in a task that chooses between each value and the one before it. */
#ifndef RQL_ENGINE_PLAN_LOOP_H
#define RQL_ENGINE_PLAN_LOOP_H

#include "engine/plan/task.h"

/* The tasks of a loop read columns that stand for those of the round: a run puts others in their place. They have types
 * and, from the start of a run on, the number of rows. */
struct loop {
    struct queue body;     /* one round: the outputs of its last task are the columns of the state */
    struct queue active;   /* before a round: one row, a bool, whether it is to be run; without tasks: always */
    struct queue until;    /* after a round: one row, a bool, whether it was the last; without tasks: never */
    struct column **state; /* stand for the columns before the round, */
    struct column **after; /* for those after it, which `until` reads, too, */
    struct column *step;   /* and for a column of one row, the number of the round */
    size_t count;          /* of the columns of the state: the visible ones, then those of validity */
    int64_t first;         /* the number of the first round; those before are done */
    int64_t rounds;        /* at most, with those */
    bool stated;           /* by the user; else reaching that number is an error */
    bool compares;         /* `until` reads columns before and after the round, which have to have as many rows */
    struct span span;
};

/* A loop of `count` columns, which the queue releases. `types` and `logical` are those of its columns; NULL: no
 * memory. */
struct loop *loop_new(struct queue *queue, const enum type *types, const struct logical_type *logical, size_t count);

enum { LOOP_QUEUES = 3 };

/* Queue k of the loop: 0 is `body`, 1 `active`, 2 `until`. */
struct queue *loop_queue(struct loop *loop, size_t k);

#endif
