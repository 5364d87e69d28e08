/* Aggregates in expressions: `select qty > 2 * mean(qty)`, `group sym: sum(a * b) / sum(b)`.
 *
 * The calls of aggregates in a stage's expressions are lowered to tasks before the stage itself: one or few groups, or
 * aggregating tasks, and a relation that has a row for each group (one row if there are no groups) and a column for
 * each call. The stage's expressions are then bound as usual, and find the value of a call by its place in the tree.
 *
 * For a stage of rows, without groups:
 *
 *     struct aggregate_values values;
 *     binder->aggregates = aggregates_of_stage(binder, stage, flow, NULL, &values);
 *     ... bind the stage: each scope of a task that reads `flow` may have calls of aggregates ...
 *     binder->aggregates = NULL;
 *
 * Within groups, `ids` is the number of a column of the flow (it may be hidden) that holds the number of each row's
 * group: 0, 1, ... without gaps. group_ids_add makes one. After rows were dropped there may be gaps: make them anew,
 * with the old column as the key. */
#ifndef RQL_ENGINE_LOWER_AGGREGATES_H
#define RQL_ENGINE_LOWER_AGGREGATES_H

#include "engine/lower/lower.h"

/* Lowers all calls of aggregates in the stage's items. `ids`: as above, NULL: the aggregates are of all rows. The
 * values are written to `values`, which has to live while the stage is bound; returns it, or NULL if there are none. */
const struct aggregate_values *aggregates_of_stage(struct binder *binder, const struct stage *stage,
                                                   const struct flow *flow, const size_t *ids,
                                                   struct aggregate_values *values);

/* Whether an expression has a call of an aggregate. */
bool aggregates_any(const struct binder *binder, const struct expr *expr);

/* Whether it has aggregates, and reads nothing else of the rows: it is the same for each row. */
bool aggregates_alone(const struct binder *binder, const struct expr *expr);

/* Adds hidden columns to the flow: those of the keys, and the numbers of the rows' groups by them, in the order of the
 * keys with missing ones last. Returns the number of the latter; `keys` has the keys' terms and slots, and as
 * `missing` and `value` numbers of columns. */
size_t group_ids_add(struct binder *binder, const struct stage *stage, const struct item *items, size_t count,
                     struct flow *flow, struct key_operands *keys);

/* The groups of a stage, with the values of its aggregates. */
struct groups {
    struct flow flow; /* a row for each group: the keys are the first columns, visible; those of calls come after */
    size_t key_count;
    const char **key_names; /* NULL: the key is computed, and has no name */
    struct aggregate_values values;
    bool computed; /* by a task that reads the operator's columns; else they are those */
};
/* Lowers one call of an aggregate for the groups that column `ids` of the flow numbers: `groups` gets a row for each.
 * Returns the number of the value's column there. */
size_t aggregate_by_ids(struct binder *binder, const struct stage *stage, const struct flow *flow, size_t ids,
                        const struct expr *expr, struct flow *groups);

/* Lowers `group`: keys stage->items (if there are none, one row), and the calls of aggregates in stage->aggregates. */
void groups_lower(struct binder *binder, const struct stage *stage, const struct flow *flow, struct groups *groups);

#endif
