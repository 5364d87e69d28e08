/* Windows in expressions. */
#ifndef RQL_ENGINE_LOWER_OVER_H
#define RQL_ENGINE_LOWER_OVER_H

#include "engine/expression/expression.h"

/* AGG(E) over A..B as a value of the scope's task; unknown after an error. */
struct term lower_over(struct scope *scope, const struct expr *expr);

/* An aggregate of the term, which is a column's, over a window; of an unknown one it counts the rows where it is
 * present. */
struct term lower_window(struct scope *scope, struct moving_operator op, struct term term, struct span span);

/* The same, of rows in which the integers `times`, called `name` in errors, must not decrease. */
struct term lower_sorted_window(struct scope *scope, struct moving_operator op, struct term term, struct term times,
                                const char *name, struct span span);

/* Whether the constant is a distance in a column of this class, in the column's unit. */
bool distance_in(enum term_class which, const struct scalar *scalar, int64_t *distance);

/* The number of the row within its group, from 0. */
value lower_row_of_group(struct scope *scope, struct span span);
/* The value of the first row of its group; it is present everywhere. */
value lower_first_of_group(struct scope *scope, value v, struct span span);
/* The number of rows of its group that follow it. */
value lower_rows_after(struct scope *scope, struct span span);

/* Functions that read other rows, as values of the scope's task; unknown after an error. */

/* rank.c: the place of a row's value among those of its group. */
struct term lower_rank(struct scope *scope, const struct expr *expr);
struct term lower_ntile(struct scope *scope, const struct expr *expr);
/* series.c: values of the rows before and behind. */
struct term lower_fill(struct scope *scope, const struct expr *expr);
struct term lower_ewma(struct scope *scope, const struct expr *expr);

#endif
