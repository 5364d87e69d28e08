/* The state of a loop at its start, on a device. */
#ifndef RQL_CL_TASK_ROUND_START_H
#define RQL_CL_TASK_ROUND_START_H

#include "cl/task/round_steps.h"

/* Copies column k of the start to column k of the state, which has a buffer; a column that is on the device is copied
 * there. False: the kernel that converts cannot be built, or with the accelerator's failure. */
bool round_start(struct backend_rounds *rounds, size_t k);

#endif
