/* Tables of a join index (engine/backend/index_tables.h) by kernels. The statuses are those of operators. */
#ifndef RQL_CL_OPERATORS_KEY_RANKS_H
#define RQL_CL_OPERATORS_KEY_RANKS_H

#include "cl/operators/operator_run.h"

#include "engine/backend/index_tables.h"

/* The ranges of the job's inputs, which are integers. */
enum status key_ranks_ranges(struct accelerator *accelerator, const struct operator_job *job,
                             struct index_tables *tables);

/* Fills the tables. */
enum status key_ranks_index(struct accelerator *accelerator, const struct operator_job *job,
                            struct index_tables *tables);

#endif
