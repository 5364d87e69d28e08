#include "engine/bind/preview.h"

#include "base/path.h"
#include "engine/formats/formats.h"

#include <sys/stat.h>

/* Formats that are not raw are read whole when they are opened, about a millisecond a megabyte. */
enum { MOST_BYTES = 32 << 20 };

static bool opens_fast(const struct file_cache *file_cache, const struct path_item *item, struct arena *arena)
{
    const char *path = path_expand_home(item->path.text, arena);
    const struct format *format = item->stated.text ? format_by_word(item->stated.text) : format_of_path(path);
    struct stat status;
    if (stat(path, &status) != 0)
        return false;
    bool raw = format && format->type != TYPE_COUNT;
    return S_ISDIR(status.st_mode) || (S_ISREG(status.st_mode) && (raw || status.st_size <= MOST_BYTES)) ||
           (format && file_cache_contains(file_cache, path, format));
}

static bool all_open_fast(const struct file_cache *file_cache, const struct source_node *source, struct arena *arena)
{
    for (size_t i = 0; i < source->path_count; i++) {
        if (!opens_fast(file_cache, &source->paths[i], arena))
            return false;
    }
    return true;
}

static bool pipeline_opens_fast(const struct file_cache *file_cache, const struct pipeline *pipeline,
                                struct arena *arena)
{
    while (pipeline->source.kind == SOURCE_PIPELINE)
        pipeline = pipeline->source.pipeline;
    bool fast = all_open_fast(file_cache, &pipeline->source, arena);
    for (size_t i = 0; i < pipeline->stage_count && fast; i++) {
        for (size_t k = 0; k < pipeline->stages[i].source_count && fast; k++)
            fast = all_open_fast(file_cache, &pipeline->stages[i].sources[k], arena);
    }
    return fast;
}

/* Binds it, as a check or opening files; false if that does not tell all columns. */
static bool bound_columns(struct env *env, const struct pipeline *pipeline, bool checking, struct arena *arena,
                          const char *const **names, size_t *count)
{
    struct bound bound;
    struct diags diags;
    diags_init(&diags, arena);
    if (bind_pipeline(env, pipeline, checking, arena, NULL, &bound, &diags) != STATUS_OK)
        return false;
    bool told = bound.kind == BOUND_RELATION && bound.queue.count > 0;
    if (told) {
        const struct task *last = bound.queue.tasks[bound.queue.count - 1];
        const char **copy = arena_array(arena, last->output_count, sizeof *copy);
        for (size_t k = 0; k < last->output_count; k++)
            copy[k] = last->outputs[k].name;
        *names = copy;
        *count = last->output_count;
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
    return told || valued;
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
           (pipeline_opens_fast(env->file_cache, pipeline, arena) &&
            bound_columns(env, pipeline, false, arena, names, count));
}
