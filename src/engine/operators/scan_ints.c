#include "engine/operators/scan_sums.h"

#include "base/integer.h"
#include "engine/backend/aggregate.h"
#include "engine/plan/aggregate_join.h"
#include "engine/vector/elements.h"
#include "engine/vector/ops.h"

/* One loop for each operation; of sums one for each form. */
JOINS bool scan_of(enum aggregate_kind kind, bool exclusive, int64_t *running, const int64_t *in, int64_t *out,
                   int count)
{
    int64_t so_far = *running;
    bool overflow = false;
    for (int i = 0; i < count; i++) {
        const int64_t next = aggregate_join_integers(kind, so_far, in[i], &overflow);
        out[i] = exclusive ? so_far : next;
        so_far = next;
    }
    *running = so_far;
    return overflow;
}

bool scan_ints(enum aggregate_kind kind, bool exclusive, int64_t *running, const int64_t *in, int64_t *out, int count)
{
    if (kind == AGG_SUM && exclusive)
        return scan_of(AGG_SUM, true, running, in, out, count);
    if (kind == AGG_SUM)
        return scan_of(AGG_SUM, false, running, in, out, count);
#define AGGREGATE_JOIN(join, ...)                                                                                      \
    if (kind == AGG_##join)                                                                                            \
        return scan_of(AGG_##join, exclusive, running, in, out, count);
#define AGGREGATE_JOIN_CHECKED AGGREGATE_JOIN
#include "engine/plan/aggregates.def"
    return true;
}

bool scan_ints_append(enum aggregate_kind kind, int64_t *running, int64_t next)
{
    bool overflow = false;
    *running = aggregate_join_integers(kind, *running, next, &overflow);
    return overflow;
}

bool scan_ints_total(const struct aggregate *aggregate, const struct code *code, const struct column *from,
                     int64_t begin, int64_t end, int64_t *total)
{
    const enum lane lane = axis_lane(from);
    fold_fn *fold = vector_fold(aggregate->kind, lane, false);
    struct agg_state state;
    int64_t space[BLOCK_ROWS];
    agg_init(&state, aggregate, code);
    for (int64_t row = begin; row < end; row += BLOCK_ROWS) {
        const int count = (int)min_int64(end - row, BLOCK_ROWS);
        fold(&state, axis_values(from, lane, row, count, space), count);
    }
    if (aggregate->kind == AGG_SUM)
        return __builtin_add_overflow(state.sum, 0, total);
    *total = state.integer;
    return false;
}
