/* Windows in expressions. */
#ifndef RQL_ENGINE_LOWER_OVER_H
#define RQL_ENGINE_LOWER_OVER_H

#include "engine/expression/expression.h"

/* AGG(E) over A..B as a value of the scope's task; unknown after an error. */
struct term lower_over(struct scope *scope, const struct expr *expr);

/* The number of the row within its group, from 0. */
value lower_row_of_group(struct scope *scope, struct span span);
/* The value of the first row of its group; it is present everywhere. */
value lower_first_of_group(struct scope *scope, value v, struct span span);
/* The number of rows of its group that follow it. */
value lower_rows_after(struct scope *scope, struct span span);

/* rank.c: the place of a row's value among those of its group. */

/* rank(E [, desc] [, dense]) as a value of the scope's task; unknown after an error. */
struct term lower_rank(struct scope *scope, const struct expr *expr);

#endif
