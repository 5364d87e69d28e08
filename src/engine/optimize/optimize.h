/* The optimizer: passes over a queue, over the rounds of a loop, and over each task once the columns it reads are
 * known.
 *
 * The functions stand in the order in which a query meets them. Passes that run one after another are in passes.h. */
#ifndef RQL_ENGINE_OPTIMIZE_OPTIMIZE_H
#define RQL_ENGINE_OPTIMIZE_OPTIMIZE_H

#include "engine/plan/loop.h"
#include "engine/plan/task.h"
#include "engine/storage/zonemap.h"

/* Is told the queue, or the task, before the first pass and after each one: for `explain passes`. */
struct pass_watch {
    void (*queue)(void *context, const char *pass, const struct queue *queue);
    void (*task)(void *context, const char *pass, const struct task *task);
    void *context;
};

/* ---- a queue ---- */

/* Fills `fused`, initialised with the same arena, with an equivalent queue of as few tasks as possible. Both queues
 * hold the columns they read. `queue` keeps its tasks; only its unneeded outputs are marked. */
void optimize_queue(const struct queue *queue, struct queue *fused);
void optimize_queue_watched(const struct queue *queue, struct queue *fused, const struct pass_watch *watch);

/* The passes over a fused queue that is not sent to a server. */
void optimize_local(struct queue *fused, const struct pass_watch *watch);

/* axis_fold.c: fills `folded`, initialised with the same arena, with the tasks of a fused queue, reductions along an
 * axis as folds where that stores fewer rows; false if there are none. It borrows the columns of `fused`. Errors are to
 * be found by `fused`, which tells the rows as they are written. */
bool fold_axes(const struct queue *fused, struct queue *folded);

/* Both: initialises and fills `fused` and `folded`; returns the one to run. */
const struct queue *optimize_and_fold(const struct queue *queue, struct queue *fused, struct queue *folded);

/* ---- rounds of a loop whose programs are made once (engine/task/kept_rounds.h) ---- */

/* element_columns.c, precomputation: fills `made`, as fold_axes does, with what folds compute of elements at one
 * position as columns that tasks of their own compute first; the tasks know how many rows they read. False if there is
 * nothing to gain. */
bool fold_elements(const struct queue *fused, struct queue *made);

/* loop_invariants.c, loop-invariant code motion: finds the values of a task of a round that are worth being computed
 * before the loop. varies[k]: input k changes from round to round; inputs[k] is the column of an input that does not.
 * Returns the task that computes them, as its outputs; NULL if there are none. */
struct invariants {
    value *values;
    size_t count;
};
const struct task *invariants_find(const struct task *task, const bool *varies, struct column *const *inputs,
                                   int64_t rows, struct invariants *found, struct arena *arena);

/* Returns a copy of the task that reads these columns in place of the values. */
const struct task *invariants_read(const struct task *task, const struct invariants *found,
                                   struct column *const *columns, struct arena *arena);

/* loop_fusion.c, loop fusion: returns `body`, the last task of a round, with the aggregates of `until`: a task of
 * SINK_ROWS that has aggregates too, in the arena. Neither has been through range analysis. NULL: `until` reads other
 * rows of the columns after the round than its own, or has filters, loops or a window. */
struct task *fuse_until(const struct loop *loop, const struct task *body, const struct task *until,
                        struct arena *arena);

/* ---- a task ---- */

/* Analyses a task for a run on `columns`, its inputs in order, and `rows` rows: sets the lane, interval, `checked` and
 * guard of every instruction. May append instructions to the task's code, in that code's arena. */
void optimize_task(struct task *task, struct column *const *columns, int64_t rows);
void optimize_task_watched(struct task *task, struct column *const *columns, int64_t rows,
                           const struct pass_watch *watch);

/* sum_algebra.c: of an analysed task for one run, whose aggregates are finished by agg_derived. */
void derive_sums(struct task *task, const struct pass_watch *watch);

/* zone_predicate.c: zone predicates: whether a task's filters can pass any row of a zone, by the bounds of the columns
 * in it. */

struct zone_predicate;

/* A predicate for this task's filters on `rows` rows, in `arena`. */
struct zone_predicate *zone_predicate_new(const struct task *task, int64_t rows, struct arena *arena);

/* Whether the filters read row numbers, which bound them without zone maps. */
bool zone_predicate_of_rows(const struct zone_predicate *predicate);

/* Whether no task row among begin .. end-1 passes the filters, and none can fail in them. inputs[k] bounds input k in
 * those rows, whole[k] in all. */
bool zone_predicate_exclude(struct zone_predicate *predicate, int64_t begin, int64_t end, const struct zone *inputs,
                            const struct zone *whole);

#endif
