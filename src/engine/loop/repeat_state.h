/* A `repeat` stage while it is bound: the columns of its state, the form in which rows enter the loop and are brought
 * back into it after a round, and loops of rows as a LOOP of typed code, in which each row's rounds run one after
 * another, its state in registers. */
#ifndef RQL_ENGINE_LOOP_REPEAT_STATE_H
#define RQL_ENGINE_LOOP_REPEAT_STATE_H

#include "engine/lower/lower.h"
#include "engine/plan/loop.h"

/* A round that has been bound. */
struct row_loop {
    const struct loop *loop;
    const struct task *after; /* of the body: its outputs are the columns after a round */
    const struct task *mask;  /* of the body: its code has; NULL: there is none */
    value keep;               /* the condition of a row */
    int64_t rounds;           /* at most */
};

/* Makes the flow, which has the columns of the state, that after the rounds of each row. False: something in a round
 * reads other rows; the queue is as before. */
bool loop_in_rows(struct binder *binder, const struct stage *stage, const struct row_loop *row_loop, struct flow *flow);

/* A `repeat` stage while it is bound. */
struct repeat {
    struct binder *binder;
    const struct stage *stage;
    struct flow entry; /* the columns of the state: visible ones, then the validity of those that have one */
    struct loop *loop;
    struct rounds rounds;
    bool rows_vary;       /* from round to round */
    struct row_loop rows; /* while */
};

/* Adds a task that brings the flow's columns into the form of the state, r->entry: integers and floats as computed
 * values have them, with a validity where values are missing or, with nullable[k], may come to be missing. */
void repeat_enter(struct repeat *r, const struct flow *flow, const bool *nullable);

/* Checks the columns that a round ends with against those of the state. False after an error or, with *open, if they
 * are not known. */
bool repeat_check_round(const struct repeat *r, const struct flow *flow, bool *open);

/* Sets nullable[k] for each column of the state without a validity that has one after the round; returns whether there
 * is such a column. The columns have been checked. */
bool repeat_find_nullable(const struct repeat *r, const struct flow *flow, bool *nullable);

/* Ends a round: the flow becomes a task with the columns in the order of the state. */
void repeat_leave(const struct repeat *r, struct flow *flow);

/* Ends the round of a loop with `while`: rows for which the condition does not hold stay as they were. */
void repeat_leave_masked(struct repeat *r, struct flow *flow);

/* The type of a column, for messages: "an integer", "a date". */
const char *repeat_type_noun(const struct slot *slot);

#endif
