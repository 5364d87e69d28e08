#include "cl/task/plan_program.h"

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
