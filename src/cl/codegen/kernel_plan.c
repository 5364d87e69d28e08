#include "cl/codegen/kernel_plan.h"

#include "cl/codegen/loop_terms.h"

const char *const kernel_names[KERNEL_ROLE_COUNT] = {
    [KERNEL_AGGREGATE] = "aggregate", [KERNEL_FLOAT_SUMS] = "float_sums", [KERNEL_COUNT] = "count",
    [KERNEL_WRITE] = "write",         [KERNEL_TERMS] = "terms",           [KERNEL_COMBINE] = "combine",
};

const struct live_roots kernel_needs[KERNEL_ROLE_COUNT] = {
    [KERNEL_AGGREGATE] = {.filters = true, .aggregates = true},
    [KERNEL_FLOAT_SUMS] = {.filters = true, .aggregates = true},
    [KERNEL_COUNT] = {.filters = true},
    [KERNEL_WRITE] = {.filters = true, .outputs = true},
    [KERNEL_TERMS] = {.outputs = true},
    [KERNEL_COMBINE] = {.filters = false},
};

bool kernel_in_tiles(const struct kernel_plan *plan, enum kernel_role role)
{
    const bool filters = plan->emitter.task->filter_count > 0;
    return plan->config->contiguous || role == KERNEL_COUNT || (role == KERNEL_WRITE && filters) ||
           (role == KERNEL_AGGREGATE && plan->aggregates.function_count > 0);
}

bool kernel_in_one_pass(const struct kernel_plan *plan)
{
    return plan->config->single_pass > 0 && plan->roles[KERNEL_WRITE] && plan->emitter.task->filter_count > 0;
}

size_t kernel_group(const struct kernel_plan *plan, enum kernel_role role)
{
    return role == KERNEL_WRITE && kernel_in_one_pass(plan) ? plan->config->single_group : plan->config->group;
}

static bool has_outputs(const struct task *task)
{
    for (size_t k = 0; k < task->output_count && task->sink == SINK_ROWS; k++) {
        if (task->outputs[k].needed)
            return true;
    }
    return false;
}

/* Adds the user functions that the kernels call. */
static void add_functions(struct kernel_plan *plan)
{
    struct emitter *emitter = &plan->emitter;
    for (size_t k = 0; k < plan->aggregates.function_count; k++) {
        const struct emitter *body = &plan->aggregates.functions[k].emitter;
        emitter->checks = true; /* functions take a pointer to it */
        emitter->floats = emitter->floats || body->floats;
        emitter->operations += body->operations;
    }
    plan->rows = kernel_config_rows(plan->config, emitter->operations);
}

bool kernel_plan_make(struct kernel_plan *plan, const struct task *task, const struct kernel_config *config,
                      const enum type *inputs, const enum type *outputs, struct arena *arena)
{
    return kernel_plan_make_round(plan, task, config, inputs, outputs, NULL, arena);
}

bool kernel_plan_make_round(struct kernel_plan *plan, const struct task *task, const struct kernel_config *config,
                            const enum type *inputs, const enum type *outputs, const struct kernel_round *round,
                            struct arena *arena)
{
    *plan = (struct kernel_plan){.config = config, .stores = outputs, .round = round};
    if (!emitter_init(&plan->emitter, task, inputs, 0, arena))
        return false;
    plan->rows = kernel_config_rows(config, plan->emitter.operations);
    if (task->sink == SINK_AGGREGATE || task->aggregate_count > 0) {
        if (!accumulators_plan(&plan->emitter, plan->rows, round, &plan->aggregates, &plan->float_sums) ||
            (round && !accumulators_combine_alone(&plan->aggregates, &plan->float_sums, task)))
            return false;
        add_functions(plan);
        plan->roles[KERNEL_AGGREGATE] = plan->aggregates.count > 0 || plan->emitter.checks || has_outputs(task);
        plan->roles[KERNEL_FLOAT_SUMS] = plan->float_sums.count > 0;
        plan->roles[KERNEL_COMBINE] = round;
    } else {
        plan->roles[KERNEL_WRITE] = has_outputs(task);
        plan->roles[KERNEL_COUNT] = task->filter_count > 0 && !kernel_in_one_pass(plan);
        if (plan->roles[KERNEL_COUNT])
            plan->kept = accumulators_plan_count(arena);
        const enum terms_shared shared = plan->roles[KERNEL_WRITE] && !config->contiguous
                                             ? loops_share_terms(&plan->emitter, round)
                                             : TERMS_NOT_SHARED;
        plan->listed = shared == TERMS_OF_LONG_ROWS;
        plan->roles[KERNEL_TERMS] = shared != TERMS_NOT_SHARED;
        plan->roles[KERNEL_WRITE] = plan->roles[KERNEL_WRITE] && shared != TERMS_OF_ALL_ROWS;
    }
    return true;
}
