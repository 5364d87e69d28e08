/* Breakers on a device: one file each, found by kind. */
#ifndef RQL_CL_OPERATORS_OPERATOR_H
#define RQL_CL_OPERATORS_OPERATOR_H

#include "cl/device/accelerator.h"

#include "engine/backend/backend.h"

/* As backend_ops.breaker: STATUS_UNABLE, with or without a note, leaves it to the host. */
typedef enum status cl_operator_fn(struct accelerator *accelerator, const struct operator_job *job, bool *flagged);

/* The function of a kind. */
cl_operator_fn *cl_operator(enum operator_kind kind);

/* Whether devices of this shape are worth asking, where the host works in the same memory. */
bool cl_operator_pays(enum operator_kind kind, const struct kernel_config *shape);

cl_operator_fn cl_scan;
cl_operator_fn cl_sort;
cl_operator_fn cl_group;
cl_operator_fn cl_distinct;
cl_operator_fn cl_scatter;
cl_operator_fn cl_hist;

#endif
