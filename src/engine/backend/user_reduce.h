/* A user's associative function of two values, as reduce and scan apply it. */
#ifndef RQL_ENGINE_BACKEND_USER_REDUCE_H
#define RQL_ENGINE_BACKEND_USER_REDUCE_H

#include "engine/plan/task.h"

struct failure; /* failure.h */

struct user_reduce {
    enum kind kind;    /* of both arguments and the result */
    struct task *body; /* inputs 0 and 1 are the left and the right value; one output, no filters */
};

/* Analyses the function (range_analysis.h, guard.h) for arguments of any value. Once before programs are made of it, by
 * one thread. */
void user_reduce_prepare(const struct user_reduce *reducer);

/* Columns for the inputs of its body: the two arguments of so many rows, without data, and those it reads besides. */
struct column **user_reduce_columns(const struct user_reduce *reducer, int64_t rows, struct arena *arena);

/* Applies it lazily, as the exact evaluator would; false if the result that is read has no value. May be called by
 * several threads. */
bool user_reduce_apply(const struct user_reduce *reducer, struct scalar left, struct scalar right,
                       struct scalar *result);

/* The same; on failure says which operation failed on what. Task and row are the caller's to fill in. */
bool user_reduce_explain(const struct user_reduce *reducer, struct scalar left, struct scalar right,
                         struct scalar *result, struct failure *failure);

#endif
