#include "engine/bind/preview.h"

#include "engine/env/sources.h"

/* Binds the pipeline, as a check or with its files loaded; false if not all columns are known. */
static bool bound_columns(struct env *env, const struct pipeline *pipeline, bool checking, struct arena *arena,
                          const char *const **names, size_t *count)
{
    struct bound bound;
    struct diags diags;
    diags_init(&diags, arena);
    if (bind_pipeline(env, pipeline, checking, arena, NULL, &bound, &diags) != STATUS_OK)
        return false;
    bool found = bound.kind == BOUND_RELATION && bound.queue.count > 0;
    if (found) {
        const struct task *last = bound.queue.tasks[bound.queue.count - 1];
        const char **copy = arena_array(arena, last->output_count, sizeof *copy);
        *count = 0;
        for (size_t k = 0; k < last->output_count && !last->outputs[k].hidden; k++)
            copy[(*count)++] = last->outputs[k].name;
        *names = copy;
    }
    const bool valued = bound.kind == BOUND_SCALAR && bound.scalar_name;
    if (valued) {
        const char **both = arena_array(arena, 2, sizeof *both);
        both[0] = bound.scalar_name;
        both[1] = ENV_LAST;
        *names = both;
        *count = 2;
    }
    queue_release(&bound.queue);
    return found || valued;
}

bool preview_is_value(struct env *env, const struct pipeline *pipeline, struct arena *arena)
{
    struct bound bound;
    struct diags diags;
    diags_init(&diags, arena);
    if (bind_pipeline(env, pipeline, true, arena, NULL, &bound, &diags) != STATUS_OK)
        return false;
    queue_release(&bound.queue);
    return bound.scalar_name != NULL;
}

bool preview_columns(struct env *env, const struct pipeline *pipeline, struct arena *arena, const char *const **names,
                     size_t *count)
{
    return bound_columns(env, pipeline, true, arena, names, count) ||
           (sources_load_fast(env, pipeline, arena) && bound_columns(env, pipeline, false, arena, names, count));
}
