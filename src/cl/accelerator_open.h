/* Opening and closing a device. */
#ifndef RQL_CL_ACCELERATOR_OPEN_H
#define RQL_CL_ACCELERATOR_OPEN_H

#include "cl/device/accelerator.h"

/* Opens the device with this configuration; NULL with the failure. */
struct accelerator *accelerator_open(const struct device *device, const struct kernel_config *config,
                                     struct failure *failure);
void accelerator_close(struct accelerator *accelerator);

/* Whether the times of the commands that follow can be asked for. At first they can. */
void accelerator_set_timed(struct accelerator *accelerator, bool timed);

#endif
