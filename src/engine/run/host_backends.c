#include "engine/task/run_task.h"

#include "engine/backend/backend_choice.h"

bool backend_on_host(struct backend *backend)
{
    struct profile profile;
    if (!backend->ops->profile)
        return true;
    const enum readiness readiness = backend->ops->profile(backend, false, &profile);
    return readiness == BACKEND_UNABLE || (readiness == BACKEND_READY && profile.class != CLASS_GPU);
}

bool runs_on_host(const struct runner *runner)
{
    bool host = !runner->device || backend_on_host(runner->device);
    for (size_t k = 0; runner->chooser && k < chooser_count(runner->chooser); k++)
        host = host && backend_on_host(chooser_backend(runner->chooser, k));
    return host;
}

static bool is_gpu(struct backend *backend)
{
    struct profile profile;
    return backend->ops->profile && backend->ops->profile(backend, false, &profile) == BACKEND_READY &&
           profile.class == CLASS_GPU;
}

bool runs_on_gpu(const struct runner *runner)
{
    bool gpu = runner->device && is_gpu(runner->device);
    for (size_t k = 0; runner->chooser && k < chooser_count(runner->chooser); k++)
        gpu = gpu || is_gpu(chooser_backend(runner->chooser, k));
    return gpu;
}
