/* `per KEYS: STAGES`: stages within groups of rows. Shared by the files that bind it.
 *
 * Rows stay where they are while windows are `..0`, `0..` or `..`: a hidden column has the number of each row's group,
 * which addresses a state for each group. It is bound so first. If something in it needs the rows of a group one after
 * another, it is bound again: the operator `partition` gives, in the order of the keys, each row's number and its
 * group's, and the stages read columns at these numbers; where memory does not hold the columns, a sort by the keys
 * moves them. A comparison with the group a few rows further tells where a group ends. Columns that the stages have
 * made return to their places by a scatter or, where rows were dropped, by a sort. */
#ifndef RQL_ENGINE_PER_BIND_PER_H
#define RQL_ENGINE_PER_BIND_PER_H

#include "engine/bind/bind_internal.h"

/* Orders the flow's rows by the keys, the stage's items: its columns are read at each row's place. */
void per_enter(struct binder *binder, const struct stage *stage, struct flow *flow);
/* Leaves rows in their places: adds each row's group as a hidden column. Both add named keys as visible columns. */
void per_enter_scattered(struct binder *binder, const struct stage *stage, struct flow *flow);
/* If the body begins with a top of few rows by a column: drops rows that cannot be among the first of their group. */
void per_keep_leading(struct binder *binder, const struct stage *stage, struct flow *flow);

/* per KEYS: describe. Gives a row for each group and column; the pipeline before it is run first. */
void per_describe(struct binder *binder, const struct stage *stage, struct flow *flow);

/* Adds an input that is read at each row's place. */
value per_input_at(struct task *task, struct input input, value place, struct arena *arena);
/* Adds output `k` of a task with the same rows. */
value per_row_input(struct task *task, struct task *from, size_t k);
/* Sets the outputs of a partition: each row's place and group. */
void per_partition_outputs(struct binder *binder, struct task *task, struct flow *flow);

#endif
