/* Loops of rows as a LOOP of typed code: each row's rounds run one after another, its state in registers. */
#ifndef RQL_ENGINE_LOOP_LOOP_IN_ROWS_H
#define RQL_ENGINE_LOOP_LOOP_IN_ROWS_H

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

#endif
