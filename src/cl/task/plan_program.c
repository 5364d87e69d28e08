#include "cl/task/plan_program.h"

#include "cl/codegen/kernel_text.h"
#include "cl/task/launch.h"

/* Compile time grows faster than linearly: PoCL takes a few seconds for this many, and no formula is as long. */
enum { MAX_OPERATIONS = 1500 };

/* The program, compiled or not. */
static struct program *find(struct accelerator *accelerator, const struct kernel_plan *plan)
{
    const char *names[KERNEL_ROLE_COUNT];
    struct strbuf key = {0};
    const bool keyed = kernel_key(plan, &key);
    struct program *program = keyed ? program_recall(accelerator, key.text, key.length) : NULL;
    if (!program) {
        for (size_t role = 0; role < KERNEL_ROLE_COUNT; role++)
            names[role] = plan->roles[role] ? kernel_names[role] : NULL;
        program = program_find(accelerator, kernel_plan_text(plan), names, KERNEL_ROLE_COUNT);
        if (keyed)
            program_remember(accelerator, key.text, key.length, program);
    }
    strbuf_free(&key);
    return program;
}

struct program *program_for(struct accelerator *accelerator, const struct kernel_plan *plan, struct diags *diags)
{
    return program_ready(accelerator, find(accelerator, plan), diags);
}

enum readiness program_begin(struct accelerator *accelerator, const struct kernel_plan *plan)
{
    return program_state(accelerator, find(accelerator, plan));
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
