#include "cl/codegen/lanes.h"

const char *lane_cl_type(enum lane lane)
{
    static const char *const types[] = {
        [LANE_BOOL] = "int", [LANE_I32] = "int", [LANE_I64] = "long", [LANE_F64] = "double"};
    return types[lane];
}
