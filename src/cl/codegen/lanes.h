/* The OpenCL types of lanes and vectors. */
#ifndef RQL_CL_CODEGEN_LANES_H
#define RQL_CL_CODEGEN_LANES_H

#include "engine/plan/code.h"

/* "int", "long" or "double"; "" or "16". */
const char *lane_cl_type(enum lane lane);
const char *width_suffix(int width);

#endif
