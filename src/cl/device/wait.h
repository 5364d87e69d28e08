/* Waiting for commands of an accelerator. */
#ifndef RQL_CL_DEVICE_WAIT_H
#define RQL_CL_DEVICE_WAIT_H

#include "cl/device/accelerator.h"

/* Waits for a command that has been enqueued. NVIDIA's driver blocks enqueues on all devices while a thread waits
 * inside it, so the event is polled first; that ends sooner, too. If that fails, all commands are waited for, because
 * they use memory that is given back then. */
cl_int wait_for_command(const struct accelerator *accelerator, cl_event event);

/* Waits for all commands of a queue, once more if that fails. */
cl_int wait_for_queue(cl_command_queue queue);

#endif
