/* The state of a loop at its start, on a device. */
#ifndef RQL_CL_TASK_ROUND_START_H
#define RQL_CL_TASK_ROUND_START_H

#include "cl/task/round_steps.h"

/* Copies column k of the start to that of the state, which has a buffer. What is on the device is not fetched. False,
 * mostly with the accelerator's failure. */
bool round_start(struct device_rounds *rounds, size_t k);

#endif
