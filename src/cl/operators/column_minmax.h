/* Minimum and maximum of a column. */
#ifndef RQL_CL_OPERATORS_COLUMN_MINMAX_H
#define RQL_CL_OPERATORS_COLUMN_MINMAX_H

#include "cl/operators/row_loop.h"

struct column_minmax {
    uint64_t least, most;    /* encodings; least > most if there are no elements but NaN */
    bool nan, negative_zero; /* of floats: whether one occurs */
};

/* Find the bounds of a column's rows. _measure runs a kernel; _bounds may return wider bounds from column statistics or
 * from the type, at no cost. The status is that of operator_end; *bounds is set with STATUS_OK. */
enum status column_minmax_measure(struct accelerator *accelerator, const struct operator_job *job,
                                  struct column *column, struct column_minmax *bounds);
enum status column_minmax_bounds(struct accelerator *accelerator, const struct operator_job *job, struct column *column,
                                 struct column_minmax *bounds);

/* Of a column of floats: the place of the lowest bit of any of them, and the one behind the highest, as digits.cl
 * counts them, the first greater than the second if all are 0; and, as `nan`, whether one is not finite. */
enum status column_minmax_digits(struct accelerator *accelerator, const struct operator_job *job, struct column *column,
                                 struct column_minmax *digits);

/* column_digits.c: the same by the host, as while the kernel is built. */
enum status column_digits_on_host(const struct operator_job *job, const struct column *column,
                                  struct column_minmax *digits);

/* Adds the bounds of other rows. */
void column_minmax_join(struct column_minmax *bounds, const struct column_minmax *others);

#endif
