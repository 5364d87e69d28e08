/* Users' associative functions, for reduce and scan: of two values, or of two rows. */
#ifndef RQL_ENGINE_PLAN_COMBINING_H
#define RQL_ENGINE_PLAN_COMBINING_H

#include "engine/plan/task.h"

/* The body has `count` outputs and no filters. Its inputs 0 .. count - 1 are the left row, the next ones the right row,
 * and those after them columns that it reads elements of. */
struct user_reduce {
    enum kind kind;    /* of a value, where `count` is 1 and no row */
    struct task *body; /* its inputs have the types of the values, without dictionaries */
    size_t count;      /* values of a row */
};

/* OPERATOR_COMBINE: its keys are the row's values. */
struct combining {
    struct user_reduce reducer;
    bool reduces;           /* to one row; else a row each, of all up to it */
    bool has_initial;       /* a row that is combined before the first; the result for no rows */
    struct scalar *initial; /* its values, of their kinds */
    bool in_order;          /* some value is a float: rounding depends on how rows are grouped */
};

#endif
