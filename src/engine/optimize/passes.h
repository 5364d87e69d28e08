/* The passes, in the order in which optimize.c runs them. */
#ifndef RQL_ENGINE_OPTIMIZE_PASSES_H
#define RQL_ENGINE_OPTIMIZE_PASSES_H

#include "engine/plan/task.h"

/* fuse.c: adds to `fused` the tasks of `queue`, which is pruned, joined where one only computes and filters what
 * another reads. One rule covers RubiCL's seven (map-map, filter-filter, map-filter, filter-map, map-mapfilter,
 * mapfilter-map, mapfilter-filter), the filter after a post-mapped mapfilter that RubiCL could not fuse, and zip of
 * columns computed from the same number of unfiltered rows. */
void fuse(const struct queue *queue, struct queue *fused);

/* limit_pushdown.c: sets operator.first of the sorts and groups whose last rows are not read. */
void push_limits(const struct queue *fused);

/* group_order.c: marks groups that need no order, and gives the sorts that read them their keys. Follows push_limits.
 */
void free_group_order(const struct queue *fused);

/* group_keys.c: leaves keys of groups out that depend on others. Follows free_group_order. */
void leave_out_keys(struct queue *fused);

/* fold_lower.c: makes LOOPs of FOLDs, and keeps the task as it was in task.unlowered. */
void folds_lower(struct task *task);

/* range_analysis.c: sets lane, checked, lo and hi of every instruction, and clears its guard.
 *
 * Intervals start from the columns' known ranges and from literals, both widened to classes of 8, 16, 32 or 64 bits (a
 * literal keeps its sign and whether it is zero), so that other data or another literal of the same class gives the
 * same program. */
void range_analyse(struct task *task, struct column *const *columns, int64_t rows);

/* guard.c: sets instr.guard of every live checked instruction: a bool, added to the code, that is true where some
 * filter, needed output or aggregate reads the value. Filters before it pass, the && or || before it did not decide,
 * the ?: took its branch. A guard may be true too often, never false too often: a flag only starts the exact
 * evaluator. Follows range_analyse; the bools it adds are analysed too. */
void guard_place(struct task *task);

/* loop_order.c: puts every instruction after its arguments. */
void loops_order(struct task *task);

/* remap.c: changing what a task refers to: values by their numbers, and other tasks. */

/* Filters, outputs and aggregates then name map[v] instead of v: NO_VALUE is for values that are not computed. The
 * arrays are copied. */
void task_remap(struct task *task, const value *map, struct arena *arena);

/* axis_fold.c: points a task at those made for the ones that it reads, made[k] for the k-th of the queue. The arrays
 * are copied. */
void task_move_references(struct task *task, struct task *const *made, struct arena *arena);

#endif
