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

#endif
