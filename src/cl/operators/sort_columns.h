/* Sorts columns that are no task's inputs. */
#ifndef RQL_CL_OPERATORS_SORT_COLUMNS_H
#define RQL_CL_OPERATORS_SORT_COLUMNS_H

#include "cl/operators/row_loop.h"

struct sorted_columns {
    struct column *const *columns; /* the first are the keys */
    bool *descending;              /* of each key; or NULL: none is */
    const bool *wanted;            /* columns[k], which is not NULL then, is to be sorted */
    size_t count, key_count;
    int64_t rows;
};

/* Creates sorted[k] of those wanted; as cl_sort for the rest. */
enum status sort_columns(struct accelerator *accelerator, const struct operator_job *job,
                         const struct sorted_columns *what, struct column **sorted);

#endif
