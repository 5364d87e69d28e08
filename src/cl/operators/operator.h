/* Operators on a device, one file each. */
#ifndef RQL_CL_OPERATORS_OPERATOR_H
#define RQL_CL_OPERATORS_OPERATOR_H

#include "cl/device/accelerator.h"

#include "engine/backend/backend.h"

/* As backend_ops.run_operator: STATUS_UNABLE, with or without a note, leaves the task to the host. */
typedef enum status cl_operator_fn(struct accelerator *accelerator, const struct operator_job *job, bool *flagged);

/* Returns the function of a kind; NULL: the host runs it. */
cl_operator_fn *cl_operator(enum operator_kind kind);

/* Whether an operator pays on this device class, compared with the host. */
bool cl_operator_pays(enum operator_kind kind, const struct kernel_config *config);

cl_operator_fn cl_scan;
cl_operator_fn cl_sort;
cl_operator_fn cl_group;
cl_operator_fn cl_distinct;
cl_operator_fn cl_scatter;
cl_operator_fn cl_ids;
cl_operator_fn cl_hist;
cl_operator_fn cl_moving;

#endif
