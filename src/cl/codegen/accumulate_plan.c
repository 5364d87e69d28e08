/* Chooses the accumulators of an aggregate, for the first pass and the second. */
#include "cl/codegen/accumulate.h"

enum { MOST_ACCUMULATORS = 6 /* accumulators of an aggregate, at most */ };

static void add(struct accumulators *accumulators, size_t aggregate, const enum accumulator_kind *kinds, size_t count)
{
    for (size_t k = 0; k < count; k++)
        accumulators->at[accumulators->count++] = (struct accumulator){.kind = kinds[k], .aggregate = aggregate};
}

#define ADD(accumulators, aggregate, ...)                                                                              \
    add(accumulators, aggregate, (const enum accumulator_kind[]){__VA_ARGS__},                                         \
        sizeof((const enum accumulator_kind[]){__VA_ARGS__}) / sizeof(enum accumulator_kind))

static bool sum_fits(const struct instr *instr, int64_t rows)
{
    const int64_t most = INT64_MAX / 2 / rows;
    return instr->lo >= -most && instr->hi <= most;
}

static bool add_function(const struct emitter *emitter, size_t k, struct accumulators *accumulators)
{
    size_t literals = emitter->literal_count;
    for (size_t j = 0; j < accumulators->function_count; j++)
        literals += accumulators->functions[j].emitter.literal_count;
    return function_init(&accumulators->functions[accumulators->function_count++], emitter->task->aggregates[k].reducer,
                         k, literals, emitter->arena);
}

static bool add_aggregate(const struct emitter *emitter, size_t k, int64_t rows, bool one_pass,
                          struct accumulators *first, struct accumulators *second)
{
    const struct aggregate *aggregate = &emitter->task->aggregates[k];
    if (aggregate->kind == AGG_COUNT)
        return true;
    if (aggregate->kind == AGG_FOLD) {
        ADD(first, k, ACC_FOLD, ACC_FOLDED);
        return add_function(emitter, k, first);
    }
    const struct aggregate_info *info = &aggregate_table[aggregate->kind];
    const struct instr *instr = &emitter->task->code.at[aggregate->value];
    const bool real = instr->lane == LANE_F64;
    if (info->sums && real && one_pass) {
        ADD(first, k, ACC_HIGH_PART, ACC_LOW_PART, ACC_REST_PART, ACC_WEIGHT);
    } else if (info->sums && real) {
        ADD(first, k, ACC_LARGEST, ACC_NANS, ACC_POSITIVE_INF, ACC_NEGATIVE_INF);
        ADD(second, k, ACC_LEVEL0, ACC_LEVEL1, ACC_LEVEL2, ACC_REST);
    } else if (info->sums && instr->lane == LANE_I64 && !sum_fits(instr, rows)) {
        ADD(first, k, ACC_LOW, ACC_HIGH);
    } else if (info->sums) {
        ADD(first, k, instr->lane == LANE_I64 ? ACC_SUM64 : ACC_SUM32);
    } else if (aggregate->kind == AGG_PRODUCT) {
        if (real) /* in order */
            return false;
        ADD(first, k, ACC_MAGNITUDE, ACC_OVERFLOW, ACC_NEGATIVE, ACC_ZERO);
    } else {
        if (!(real ? info->numbers : info->integers))
            return false;
        first->at[first->count++] =
            (struct accumulator){ACC_JOINED, k, aggregate->kind, instr->lane == LANE_BOOL ? LANE_I32 : instr->lane};
    }
    return true;
}

bool accumulators_plan(const struct emitter *emitter, int64_t rows, bool one_pass, struct accumulators *first,
                       struct accumulators *second)
{
    const size_t most = emitter->task->aggregate_count * MOST_ACCUMULATORS + 1;
    *first = (struct accumulators){
        .at = arena_array(emitter->arena, most, sizeof *first->at),
        .functions = arena_array(emitter->arena, emitter->task->aggregate_count + 1, sizeof *first->functions),
    };
    *second = (struct accumulators){.at = arena_array(emitter->arena, most, sizeof *second->at)};
    if (emitter->task->filter_count > 0)
        ADD(first, 0, ACC_KEPT);
    for (size_t k = 0; k < emitter->task->aggregate_count; k++) {
        if (!add_aggregate(emitter, k, rows, one_pass, first, second))
            return false;
    }
    return true;
}

struct accumulators accumulators_plan_count(struct arena *arena)
{
    struct accumulators kept = {.at = arena_array(arena, 1, sizeof *kept.at)};
    ADD(&kept, 0, ACC_KEPT);
    return kept;
}

bool accumulators_combine_alone(const struct accumulators *first, const struct accumulators *second,
                                const struct task *task)
{
    for (size_t k = 0; k < task->aggregate_count; k++) {
        const struct aggregate *aggregate = &task->aggregates[k];
        if (aggregate->kind == AGG_PRODUCT || aggregate->has_initial ||
            (aggregate->kind == AGG_MEAN && task->code.at[aggregate->value].kind != KIND_FLOAT))
            return false;
    }
    return second->count == 0 && first->function_count == 0;
}
