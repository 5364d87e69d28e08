#include "cl/codegen/emit.h"

#include "engine/plan/aggregate_join.h"

#include <math.h>

const char *lane_cl_type(enum lane lane)
{
    static const char *const types[] = {
        [LANE_BOOL] = "int", [LANE_I32] = "int", [LANE_I64] = "long", [LANE_F64] = "double"};
    return types[lane];
}

const char *aggregate_none_text(enum aggregate_kind kind, enum lane lane, struct arena *arena)
{
    const struct aggregate_info *info = &aggregate_table[kind];
    if (lane == LANE_F64)
        return isnan(info->number_none) ? "nan(0UL)" : arena_printf(arena, "%.1f", info->number_none);
    if (info->none == 0)
        return "0";
    return lane == LANE_I64 ? arena_printf(arena, "as_long(0x%llxUL)", (unsigned long long)info->none)
                            : arena_printf(arena, "as_int(0x%xu)", (unsigned)aggregate_none_i32(info->none));
}
