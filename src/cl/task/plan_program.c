#include "cl/task/plan_program.h"

#include "cl/task/launch.h"

/* Compile time grows faster than linearly: PoCL takes a few seconds for this many, and no formula is as long. */
enum { MAX_OPERATIONS = 1500 };

static void name_kernels(const struct kernel_plan *plan, const char *names[KERNEL_ROLE_COUNT])
{
    for (size_t role = 0; role < KERNEL_ROLE_COUNT; role++)
        names[role] = plan->roles[role] ? kernel_names[role] : NULL;
}

struct program *program_for(struct accelerator *accelerator, const struct kernel_plan *plan, struct diags *diags)
{
    const char *names[KERNEL_ROLE_COUNT];

    name_kernels(plan, names);
    return program_of_text(accelerator, plan->text, names, KERNEL_ROLE_COUNT, diags);
}

enum readiness program_begin(struct accelerator *accelerator, const struct kernel_plan *plan)
{
    const char *names[KERNEL_ROLE_COUNT];

    name_kernels(plan, names);
    return program_begin_text(accelerator, plan->text, names, KERNEL_ROLE_COUNT);
}

const char *plan_limit(const struct kernel_plan *plan, const struct device *device)
{
    if (plan->emitter.floats && !device->doubles)
        return "the device has no double precision";
    if (plan->emitter.operations > MAX_OPERATIONS)
        return "the query is too long for a kernel";
    if (launch_parameter_bytes(plan) > device->parameters)
        return "the query has more columns and literals than a kernel takes";
    return NULL;
}
