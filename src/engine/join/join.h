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
    struct flow unevaluated;   /* the right in the first binding, if right->relation is NULL */
    const struct item **items; /* of the keys */
    size_t key_count;
    size_t equal_count;             /* keys that must be equal: all, or but for the last of an asof join, or */
    size_t compared_count;          /* so many inequalities, which are the last */
    bool bounded;                   /* asof join: the distance is known: */
    int64_t distance;               /* so far at most, in the unit of the last key */
    size_t *left_keys, *right_keys; /* columns */
    size_t *added;                  /* columns of the right that come along */
    size_t added_count;
    struct slot *slots; /* of the result: of the left, then those added */
};

/* Where the row of the right is. */
struct match {
    value row;            /* always inside of the right, if that has rows */
    value found;          /* NO_VALUE: always */
    const size_t *inputs; /* NULL, or of each column of the right: the task's inputs of its value and its validity */
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
/* Keeps the rows that match something, or nothing; the same where `found` says it. */
void join_keep_matching(const struct join *join, struct scope *scope, struct flow *flow);
void join_keep(const struct join *join, struct scope *scope, value found, struct flow *flow);
/* One row of the result for each of the left, or none; the same at this place. */
void join_single(struct join *join, struct scope *scope, struct flow *flow);
void join_gather(struct join *join, struct scope *scope, struct match place, struct flow *flow);
/* As many rows for each of the left as match; the same for these places in the order of the index. */
void join_expanded(struct join *join, struct scope *scope, struct flow *flow);
void join_expand(struct join *join, struct scope *scope, const struct places *places, struct flow *flow);

/* compared_join.c: by inequalities. */

/* Puts the keys in order; false after an error. */
bool join_order_items(struct join *join);
/* What of the keys, columns of the right, the index is in the order of. */
void join_set_order(const struct join *join, struct column *const *keys, struct join_keys *indexed);
/* Whether they say that a value is in an interval of the right, and no value is in two. */
bool join_is_disjoint(const struct join *join);
void join_compared(struct join *join, struct scope *scope, struct flow *flow);

/* parted_join.c: in parts on the disk. */

/* Whether an index of the right would take more memory than there is, so that the rows are joined there. */
bool join_exceeds_memory(const struct join *join);
void join_in_parts(struct join *join, struct scope *scope, struct flow *flow);

/* asof_join.c: the row of the right that is next to that of the left. */

/* Finds the distance, too. */
bool join_check_order(struct join *join, struct scope *scope);
/* Which row it is, for explain. */
const char *join_asof_row(const struct join *join);
void join_asof(struct join *join, struct scope *scope, struct flow *flow);

/* join_remote.c: for a server, which joins the rows: the sides as they are, without an index. */
void join_for_server(struct join *join, struct scope *scope, struct flow *flow);

/* full_join.c: appends the rows of the right that nothing has matched. */
void join_append_rest(struct join *join, struct flow *flow);

#endif
