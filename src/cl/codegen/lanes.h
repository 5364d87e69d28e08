/* The OpenCL types of lanes. */
#ifndef RQL_CL_CODEGEN_LANES_H
#define RQL_CL_CODEGEN_LANES_H

#include "engine/plan/code.h"

/* "int", "long" or "double". */
const char *lane_cl_type(enum lane lane);

#endif
