/* Starting OpenCL: finding the devices and opening the chosen one, on a thread of its own, since that takes from some
 * tens of milliseconds to more than a second. */
#ifndef RQL_CL_START_H
#define RQL_CL_START_H

#include "cl/compile/opencl_process.h"
#include "cl/device/accelerator.h"

#include "engine/backend/backend.h"

struct start;

/* Nothing is begun yet. `site` is NULL where a process has only one backend and ends in the ordinary way. */
struct start *start_new(const char *choice, struct opencl_process *process);

/* Begins it, if that has not been done, and returns at once. */
void start_begin(struct start *start);

/* Whether it is over, one way or the other. */
bool start_is_over(struct start *start);

/* Begins it and waits until it is over; false if the user interrupted that. `cancel` may be NULL. */
bool start_wait(struct start *start, const atomic_int *cancel);

/* What came of it, once it is over: the device, or NULL and what to say of that. They stay the start's. */
struct accelerator *start_accelerator(const struct start *start);
const char *start_lack(const struct start *start, const char **hint);

/* Closes the device. A start that is under way is left to its thread, which then closes it. NULL is allowed. */
void start_free(struct start *start);

#endif
