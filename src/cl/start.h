/* Starts OpenCL on its own thread: finds the devices and opens the selected one, which takes from tens of milliseconds
 * to over a second. */
#ifndef RQL_CL_START_H
#define RQL_CL_START_H

#include "cl/compile/opencl_process.h"
#include "cl/device/accelerator.h"

#include "engine/backend/backend.h"

struct start;

/* Nothing is begun yet. `site` is NULL where a process has only one backend and ends in the ordinary way. */
struct start *start_new(const char *choice, struct opencl_process *process);

/* Starts the thread unless it has been started; returns at once. */
void start_begin(struct start *start);

/* Whether it has finished or failed. */
bool start_is_over(struct start *start);

/* Starts it and waits until it is over; false if interrupted. `cancel` may be NULL. */
bool start_wait(struct start *start, const atomic_int *cancel);

/* The result once it is over: the device, or NULL with the reason. Owned by the start. */
struct accelerator *start_accelerator(const struct start *start);
const char *start_lack(const struct start *start, const char **hint);

/* Closes the device. A start in progress is left to its thread, which closes it. NULL is allowed. */
void start_free(struct start *start);

#endif
