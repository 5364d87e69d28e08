/* The OpenCL types of lanes, and constants in them. */
#ifndef RQL_CL_CODEGEN_LANES_H
#define RQL_CL_CODEGEN_LANES_H

#include "engine/plan/aggregates.h"
#include "engine/plan/code.h"

/* "int", "long" or "double". */
const char *lane_cl_type(enum lane lane);

/* What the aggregate leaves as it is when it is joined with it (engine/plan/aggregates.def). */
const char *aggregate_none_text(enum aggregate_kind kind, enum lane lane, struct arena *arena);

#endif
