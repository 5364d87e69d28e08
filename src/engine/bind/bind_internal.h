/* Shared by the files of the binder. A pipeline is bound from left to right; between two stages stands a struct flow,
 * the columns that the next stage sees. Errors do not stop the walk: what could not be bound becomes unknown, and later
 * stages accept it silently, so that one mistake causes one message. In a check, what only running can compute is
 * unknown in the same way. */
#ifndef RQL_ENGINE_BIND_BIND_INTERNAL_H
#define RQL_ENGINE_BIND_BIND_INTERNAL_H

#include "engine/backend/user_reduce.h"
#include "engine/bind/bind.h"
#include "engine/env/env.h"
#include "engine/exact/exact.h"
#include "engine/formats/save.h"
#include "engine/lower/aggregate_functions.h"
#include "engine/lower/aggregates.h"
#include "engine/lower/lower.h"
#include "engine/source/bind_source.h"

/* bind.c */
struct binder binder_new(struct facts *facts, struct arena *arena, struct needs *needs, struct diags *diags);
void bound_init(struct bound *bound, struct arena *arena);
/* Binds what is left of the pipeline when a server has run its part, with the sources as they are. */
enum status bind_rest(struct binder *binder, struct bound *bound);

/* bind_set_rows.c: union, except, intersect. */
void bind_set_rows(struct binder *binder, const struct stage *stage, struct flow *flow);
/* bind_range.c */
void bind_range(struct binder *binder, const struct source_node *source, struct flow *flow);

/* bind_list.c: the column of a list, which the queue holds, and its slot. NULL after an error, or if unknown. */
struct column *bind_list(struct binder *binder, const struct source_node *source, struct slot *slot);

/* bind_stage.c: binds a pipeline with all its stages. */
void bind_stages(struct binder *binder, const struct pipeline *pipeline, struct flow *flow, struct bound *bound);

/* The binder of a stage within groups, which are in the flow; NULL: it cannot be there. */
typedef void stage_binder(struct binder *binder, const struct stage *stage, struct flow *flow);
stage_binder *stage_binder_in_groups(enum stage_kind stage);

/* bind_named_missing.c: the stage with the name of a column `missing` where the word can be nothing else. */
const struct stage *stage_of_missing(struct binder *binder, const struct stage *stage, const struct flow *flow);

/* bind_fields.c: the set `a.*` that the name `a` stands for, which is no column but the beginning of paths; else NULL.
 */
struct expr *fields_of(struct arena *arena, const struct flow *flow, const struct expr *member);
/* bind_fields.c: puts these sets for such names, in a copy. */
void items_of_fields(struct arena *arena, const struct flow *flow, enum stage_kind kind, struct item **items,
                     size_t count);

/* bind_sets.c: the stage with an item for each column of its sets; itself if it has none. NULL after an error, or if
 * the columns are not known: then the flow's are unknown. */
const struct stage *stage_of_columns(struct binder *binder, const struct stage *stage, struct flow *flow);

/* Whether the stage's expressions are of its rows, where an aggregate is one of all of them. */
bool has_row_expressions(const struct stage *stage, const struct flow *flow);

/* bind_per_stages.c: stages within groups, which are in the flow. */
void bind_distinct_of_groups(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_reverse_of_groups(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_scan_of_groups(struct binder *binder, const struct stage *stage, struct flow *flow);
/* A scan of a column, not exclusive, as the aggregate of this word over ..0. */
void bind_scan_as_window(struct binder *binder, const struct stage *stage, const char *word, size_t column,
                         struct flow *flow);

/* bind_per.c: stages within groups. */
void bind_per(struct binder *binder, const struct stage *stage, struct flow *flow);

/* stage_parts.c: what several stages share. */

/* Column `k` as an expression, by its position. */
struct expr *expr_of_column(struct arena *arena, size_t k, struct span span);

/* The stage's first expression, or NULL after an error: it has none. */
const struct expr *stage_expr(struct binder *binder, const struct stage *stage);
/* The number of a stage such as take, at least `least`. False after an error or if unknown. */
bool stage_number(struct binder *binder, const struct stage *stage, int64_t least, int64_t *number);
/* Checks that there is exactly one column, for a stage without an expression. False after an error or if unknown. */
bool stage_column(struct binder *binder, const struct stage *stage, const struct flow *flow);
/* The condition of count E; NO_VALUE after an error or if unknown. */
value bind_counted(struct scope *scope, const struct stage *stage);
enum aggregate_kind aggregate_of(const struct stage *stage);
/* Makes the task end in this aggregate. */
void task_aggregate(struct binder *binder, const struct stage *stage, struct task *task, struct flow *flow,
                    struct aggregate what);

/* bind_shape.c: rows laid out along axes. */

extern const struct shape shape_unknown; /* of a picture, in a check */
/* Finds the axis of `along`: the one whose index changes. False after an error or if unknown. */
bool bind_along(struct binder *binder, const struct stage *stage, const struct flow *flow, size_t *axis);
/* bind_axis.c: sets which rows a scan or group takes together: those of each line. */
void column_operator_along(struct column_operator *column_op, const struct lines *lines);

/* bind_assert.c: a checked filter of rows, or a check of a terminal's value. */
void bind_assert(struct binder *binder, const struct stage *stage, struct flow *flow, struct bound *bound);

/* bind_columns.c: stages that compute or choose columns. */
void bind_map(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_with(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_derive(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_nth(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_pick(struct binder *binder, const struct stage *stage, struct flow *flow);
/* drop, rename, and pick with new names. */
void bind_rename(struct binder *binder, const struct stage *stage, struct flow *flow);

/* bind_operator.c: operators on whole columns. */

/* Keeps the rows in which the flow's only column is present; nothing if it always is. */
void drop_missing(struct binder *binder, const struct stage *stage, struct flow *flow);

/* Sorts the rows by a column that is never missing. */
void sort_by_column(struct binder *binder, const struct stage *stage, struct flow *flow, size_t column,
                    bool descending);

void bind_sort(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_distinct(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_scatter(struct binder *binder, const struct stage *stage, struct flow *flow);

/* bind_hist.c */
void bind_hist(struct binder *binder, const struct stage *stage, struct flow *flow);

/* bind_group.c */

/* Makes of the flow's only column, which is never missing, its distinct values in order and `count`, their numbers. */
void group_equal(struct binder *binder, const struct stage *stage, struct flow *flow);
/* The name of a column of this aggregate without `as`: `sum_amounts`. NULL if the expression is none. */
const char *name_of_aggregate(struct binder *binder, const struct stage *stage, const struct flow *flow,
                              const struct expr *expr);
void bind_group(struct binder *binder, const struct stage *stage, struct flow *flow);
/* bind_across.c: group with a column for each value of another column. */
void bind_across(struct binder *binder, const struct stage *stage, struct flow *flow);
/* bind_rollup.c: group with subtotals. */
void bind_rollup(struct binder *binder, const struct stage *stage, struct flow *flow);
/* bind_axis.c: terminals with `along`. */
void bind_axis_reduction(struct binder *binder, const struct stage *stage, struct flow *flow);

/* bind_combiner.c: the function that scan or reduce combines values of this kind by, with its initial value; false
 * after an error. */
bool bind_combiner(struct binder *binder, const struct stage *stage, enum kind kind, struct aggregate *what);
/* The aggregate whose operator is written so after scan and reduce; false if there is none. */
bool combiner_operator(const char *text, enum aggregate_kind *kind);

void bind_scan(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_reduce(struct binder *binder, const struct stage *stage, struct flow *flow);

/* bind_position.c: each row and its neighbours. */
void bind_stencil(struct binder *binder, const struct stage *stage, struct flow *flow);

/* bind_gather.c: rows at other positions. */
void bind_gather(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_reverse(struct binder *binder, const struct stage *stage, struct flow *flow);
/* Binds the positions of gather and scatter, one column, named unlike those of the flow. False after an error or if
 * unknown. */
bool bind_positions(struct binder *binder, const struct stage *stage, const struct flow *flow, struct flow *positions);

/* bind_shape.c */
void bind_shape(struct binder *binder, const struct stage *stage, struct flow *flow);

/* bind_aggregate.c: stages that combine values. */

void bind_count(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_aggregate(struct binder *binder, const struct stage *stage, struct flow *flow);
/* The stage as a call of its function: its items are the arguments, the last may be the only column. NULL, with an
 * error, if there is no such column. */
const struct expr *call_of_stage(struct binder *binder, const struct stage *stage, const struct flow *flow,
                                 const struct aggregate_function *function);
/* Terminals that are lowered as `group : AGG`: median, quantile, ... */
void bind_aggregate_function(struct binder *binder, const struct stage *stage, struct flow *flow);

#endif
