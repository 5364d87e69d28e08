/* The OpenCL types of lanes and vectors. */
#ifndef RQL_CL_CODEGEN_LANES_H
#define RQL_CL_CODEGEN_LANES_H

#include "engine/plan/code.h"

/* "int", "long" or "double"; "" or "16". */
const char *lane_cl_type(enum lane lane);
const char *width_suffix(int width);

/* A comparison of values in `lane` as an int mask, 0 or -1, in the arena. */
const char *lane_mask(struct arena *arena, const char *comparison, enum lane lane, int width);

#endif
