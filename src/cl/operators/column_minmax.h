/* What a column's elements are in. */
#ifndef RQL_CL_OPERATORS_COLUMN_MINMAX_H
#define RQL_CL_OPERATORS_COLUMN_MINMAX_H

#include "cl/operators/row_loop.h"

struct column_minmax {
    uint64_t least, most;    /* images; least > most if there are none but NaN */
    bool nan, negative_zero; /* of floats: whether there is one */
};

/* Found by a kernel; the status is as from operator_end, and `bounds` only good with STATUS_OK. The second may
 * give wider bounds, where the column or its type has them at no cost. */
enum status column_minmax_measure(struct accelerator *accelerator, const struct operator_job *job,
                                  struct column *column, struct column_minmax *bounds);
enum status column_minmax_bounds(struct accelerator *accelerator, const struct operator_job *job, struct column *column,
                                 struct column_minmax *bounds);

#endif
