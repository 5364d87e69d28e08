/* Starts OpenCL on its own thread: finds the devices and opens the selected one, which takes from tens of milliseconds
 * to over a second. */
#ifndef RQL_CL_START_H
#define RQL_CL_START_H

#include "cl/compile/opencl_process.h"
#include "cl/device/accelerator.h"

#include "engine/backend/backend.h"

struct start;

/* Starts nothing yet. `process` is NULL in a process with one backend that ends by returning from main. */
struct start *start_new(const char *choice, struct opencl_process *process);

/* Starts the thread unless it has been started; returns at once. */
void start_begin(struct start *start);

/* Whether starting has finished, successfully or not. */
bool start_finished(struct start *start);

/* Starts it and waits until it has finished; false if cancelled. `cancel` may be NULL. */
bool start_wait(struct start *start, const atomic_int *cancel);

/* The result once starting has finished: the device, or NULL; then start_error returns why, and a hint. Owned by
 * `start`. */
struct accelerator *start_accelerator(const struct start *start);
const char *start_error(const struct start *start, const char **hint);

/* Closes the device. A start in progress is left to its thread, which closes it. NULL is allowed. */
void start_free(struct start *start);

#endif
