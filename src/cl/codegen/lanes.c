#include "cl/codegen/lanes.h"

const char *lane_cl_type(enum lane lane)
{
    static const char *const types[] = {
        [LANE_BOOL] = "int", [LANE_I32] = "int", [LANE_I64] = "long", [LANE_F64] = "double"};
    return types[lane];
}

const char *width_suffix(int width)
{
    return width == 16 ? "16" : width == 8 ? "8" : width == 4 ? "4" : width == 2 ? "2" : "";
}

const char *lane_mask(struct arena *arena, const char *comparison, enum lane lane, int width)
{
    if (width == 1)
        return arena_printf(arena, "-(%s)", comparison);
    if (lane == LANE_BOOL || lane == LANE_I32)
        return comparison;
    return arena_printf(arena, "convert_int%s(%s)", width_suffix(width), comparison);
}
