/* A join while it is bound: what its files share. */
#ifndef RQL_ENGINE_JOIN_JOIN_H
#define RQL_ENGINE_JOIN_JOIN_H

#include "engine/expression/evaluated.h"
#include "engine/expression/match.h"
#include "engine/lower/lower.h"

/* A join while it is bound. */
struct join {
    struct binder *binder;
    const struct stage *stage;
    enum join_kind kind;
    struct flow left;
    struct evaluated *right;
    struct flow unevaluated; /* the right in the first binding, if right->relation is NULL */
    size_t key_count;
    size_t equal_count;             /* keys that must be equal: all, or but for the last of an asof join */
    size_t *left_keys, *right_keys; /* columns */
    size_t *added;                  /* columns of the right that come along */
    size_t added_count;
    struct slot *slots; /* of the result: of the left, then those added */
};

/* Where the row of the right is. */
struct match {
    value row;   /* always inside of the right, if that has rows */
    value found; /* NO_VALUE: always */
};

/* join.c */
bool join_takes_columns(const struct join *join);
/* Whether rows of the left that match nothing stay. */
bool join_keeps_left(const struct join *join);
const char *join_source_text(const struct join *join);

/* join_rows.c */

/* Sets the outputs of the task: these terms of the left, and the columns of the right at the place. */
void join_set_outputs(struct join *join, struct task *task, const struct term *left, struct match place,
                      struct flow *flow);
/* The terms of the left's columns, which are the inputs of the task of this code. */
struct term *join_left_terms(const struct join *join, struct code *code);
/* Some place, in the first binding. */
struct match join_any_place(const struct join *join, struct scope *scope);
/* The id that the index gives these keys of the left. */
value join_index_id(const struct join *join, struct scope *scope);
void join_keep_matching(const struct join *join, struct scope *scope, struct flow *flow);
void join_single(struct join *join, struct scope *scope, struct flow *flow);
void join_expanded(struct join *join, struct scope *scope, struct flow *flow);

/* asof_join.c: the latest row of the right that is not after that of the left. */
bool join_check_order(const struct join *join, struct scope *scope);
void join_asof(struct join *join, struct scope *scope, struct flow *flow);

/* join_remote.c: for a server, which joins the rows: the sides as they are, without an index. */
void join_for_server(struct join *join, struct scope *scope, struct flow *flow);

/* full_join.c: appends the rows of the right that nothing has matched. */
void join_append_rest(struct join *join, struct flow *flow);

#endif
