/* A group in the rounds of a loop, by one key with few values. */
#ifndef RQL_CL_TASK_ROUND_GROUP_H
#define RQL_CL_TASK_ROUND_GROUP_H

#include "cl/task/round_steps.h"

/* Makes a step of OPERATOR_GROUP ready, whose task is set. False, mostly with the accelerator's failure: it has no such
 * form. */
bool round_group_open(struct device_rounds *rounds, struct round_step *step);

#endif
