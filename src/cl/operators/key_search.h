/* Tables of a searched join index (engine/backend/index_tables.h) by kernels. */
#ifndef RQL_CL_OPERATORS_KEY_SEARCH_H
#define RQL_CL_OPERATORS_KEY_SEARCH_H

#include "cl/operators/operator_run.h"

#include "engine/backend/index_tables.h"

/* Fills `begins`; the status is that of an operator. */
enum status key_search_index(struct accelerator *accelerator, const struct operator_job *job,
                             struct index_tables *tables);

#endif
