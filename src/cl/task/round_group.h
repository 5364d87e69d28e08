/* A group in the rounds of a loop, by one key with few values. */
#ifndef RQL_CL_TASK_ROUND_GROUP_H
#define RQL_CL_TASK_ROUND_GROUP_H

#include "cl/task/round_steps.h"

/* Prepares a step of OPERATOR_GROUP, whose task is set. False: the group is not of this form, or with the accelerator's
 * failure. */
bool round_group_open(struct backend_rounds *rounds, struct round_step *step);

#endif
