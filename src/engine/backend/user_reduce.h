/* Applying users' associative functions. */
#ifndef RQL_ENGINE_BACKEND_USER_REDUCE_H
#define RQL_ENGINE_BACKEND_USER_REDUCE_H

#include "engine/plan/combining.h"

struct failure; /* failure.h */
union datum;    /* datum.h */

/* Analyses the function for arguments of any value. Called once, by one thread, before it is compiled. */
void user_reduce_prepare(const struct user_reduce *reducer);

/* Columns for the inputs of the body: two arguments of `rows` rows, without data, and the other columns that it reads.
 */
struct column **user_reduce_columns(const struct user_reduce *reducer, int64_t rows, struct arena *arena);

/* Applies it lazily, as the exact evaluator would; false if the result has no value. Thread-safe. */
bool user_reduce_apply(const struct user_reduce *reducer, struct scalar left, struct scalar right,
                       struct scalar *result);

/* user_reduce_apply that on failure sets all of `failure` but the task and the row. */
bool user_reduce_explain(const struct user_reduce *reducer, struct scalar left, struct scalar right,
                         struct scalar *result, struct failure *failure);

/* Applies it to two rows: `rows` has the left row's values, then the right one's. False if some value of the result has
 * none; then all of `failure`, if it is not NULL, but the task and the row are set. Thread-safe. */
bool user_reduce_rows(const struct user_reduce *reducer, const union datum *rows, union datum *result,
                      struct failure *failure);

#endif
