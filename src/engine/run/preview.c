#include "engine/run/preview.h"

#include "engine/env/sources.h"
#include "engine/expression/expression.h"
#include "engine/values/dictionary.h"

#include <string.h>

/* Binds the pipeline, as a check or with its files loaded, without its errors; false if it has some. A file has its
 * notes once, when it is read. */
static bool bind_silently(struct env *env, const struct pipeline *pipeline, bool checking, enum unread_kept unread,
                          struct arena *arena, struct bound *bound)
{
    struct facts facts = {.env = env, .pipeline = pipeline, .checking = checking, .unread = unread};
    struct diags diags;
    diags_init(&diags, arena);
    const bool good = bind_ready(NULL, &facts, arena, bound, &diags) == STATUS_OK;
    for (size_t i = 0; env->heard && i < diags.count; i++) {
        if (diags.at[i].severity == SEVERITY_NOTE && !diags.at[i].span.source)
            diags_add(env->heard, &diags.at[i]);
    }
    return good;
}

/* The visible columns of a bound relation, in the arena; NULL: it is none. */
static struct preview_column *columns_of(const struct bound *bound, struct arena *arena, size_t *count)
{
    *count = 0;
    if (bound->kind != BOUND_RELATION || bound->queue.count == 0)
        return NULL;
    const struct task *last = bound->queue.tasks[bound->queue.count - 1];
    struct preview_column *columns = arena_array(arena, last->output_count + 1, sizeof *columns);
    for (; *count < last->output_count && !last->outputs[*count].hidden; ++*count) {
        const struct output *output = &last->outputs[*count];
        columns[*count] = (struct preview_column){output->name, output->type, output->logical, output->validity > 0};
        columns[*count].logical.dictionary = NULL;
        columns[*count].logical.lists = NULL;
    }
    return columns;
}

static bool bound_columns(struct env *env, const struct pipeline *pipeline, bool checking, struct arena *arena,
                          struct preview_column **columns, size_t *count)
{
    struct bound bound;
    if (!bind_silently(env, pipeline, checking, UNREAD_NAMED, arena, &bound))
        return false;
    *columns = columns_of(&bound, arena, count);
    if (bound.kind == BOUND_SCALAR && bound.scalar_name) {
        *columns = arena_array(arena, 2, sizeof **columns);
        (*columns)[0].name = bound.scalar_name;
        (*columns)[1].name = ENV_LAST;
        *count = 2;
    }
    queue_release(&bound.queue);
    return *columns;
}

/* Checks it; false if it has errors. The queue is released. */
static bool check_silently(struct env *env, const struct pipeline *pipeline, struct arena *arena, struct bound *bound)
{
    const bool good = bind_silently(env, pipeline, true, UNREAD_NONE, arena, bound);
    if (good)
        queue_release(&bound->queue);
    return good;
}

bool preview_is_value(struct env *env, const struct pipeline *pipeline, struct arena *arena)
{
    struct bound bound;
    return check_silently(env, pipeline, arena, &bound) && bound.scalar_name;
}

struct shape preview_shape(struct env *env, const struct pipeline *pipeline, struct arena *arena)
{
    struct bound bound;
    return check_silently(env, pipeline, arena, &bound) && bound.kind == BOUND_RELATION ? bound.shape
                                                                                        : (struct shape){0};
}

bool preview_columns(struct env *env, const struct pipeline *pipeline, struct arena *arena,
                     struct preview_column **columns, size_t *count)
{
    if (bound_columns(env, pipeline, true, arena, columns, count) ||
        (sources_load_fast(env, pipeline, arena) && bound_columns(env, pipeline, false, arena, columns, count)))
        return true;
    env->peeks = true;
    const bool found = bound_columns(env, pipeline, true, arena, columns, count);
    env->peeks = false;
    return found;
}

const char **preview_names(const struct preview_column *columns, size_t count, struct arena *arena)
{
    const char **names = arena_array(arena, count + 1, sizeof *names);
    for (size_t k = 0; k < count; k++)
        names[k] = columns[k].name;
    return names;
}

static struct preview_texts texts_of(const struct dictionary *dictionary, const char *prefix, size_t most,
                                     struct arena *arena)
{
    struct preview_texts texts = {0};
    const struct text begin = {prefix, strlen(prefix)};
    if (!dictionary)
        return texts;
    texts.at = arena_array(arena, most, sizeof *texts.at);
    for (int64_t code = dictionary_lower_bound(dictionary, begin); code < dictionary->count && texts.count < most;
         code++) {
        struct text text = dictionary_text(dictionary, code);
        if (text.length < begin.length || memcmp(text.at, prefix, begin.length) != 0)
            break;
        texts.at[texts.count++] = arena_text(arena, text.at, text.length);
    }
    return texts;
}

/* The column of exactly this name, or the only one that it abbreviates; `count` if there is none. */
static size_t find_named(const char *const *names, size_t count, const char *name)
{
    size_t found = count, matches = 0;
    for (size_t k = 0; k < count; k++) {
        if (strcmp(names[k], name) == 0)
            return k;
        if (name_abbreviates(name, names[k])) {
            found = k;
            matches++;
        }
    }
    return matches == 1 ? found : count;
}

struct preview_texts relation_texts(const struct relation *relation, const char *name, const char *prefix, size_t most,
                                    struct arena *arena)
{
    const size_t k = find_named((const char *const *)relation->names, relation->count, name);
    return texts_of(k < relation->count ? relation->columns[k]->logical.dictionary : NULL, prefix, most, arena);
}

/* The texts of an output; of a column that is unread, when it is read. */
static struct preview_texts texts_of_output(const struct env *env, const struct task *last, size_t k,
                                            const char *prefix, size_t most, struct arena *arena)
{
    struct diags diags;
    struct column *column = output_column(last, k);
    if (!column)
        return texts_of(last->outputs[k].logical.dictionary, prefix, most, arena);
    diags_init(&diags, arena);
    column_ref(column);
    (void)file_cache_read(env->file_cache, &column, 1, (struct span){0}, &diags);
    struct preview_texts texts = texts_of(column->logical.dictionary, prefix, most, arena);
    column_unref(column);
    return texts;
}

struct preview_texts preview_texts(struct env *env, const struct pipeline *pipeline, const char *name,
                                   const char *prefix, size_t most, struct arena *arena)
{
    struct preview_texts texts = {0};
    struct bound bound;
    if (!sources_load_fast(env, pipeline, arena) || !bind_silently(env, pipeline, false, UNREAD_NAMED, arena, &bound))
        return texts;
    size_t count;
    const struct preview_column *columns = columns_of(&bound, arena, &count);
    const char **names = preview_names(columns, count, arena);
    const size_t k = find_named(names, count, name);
    if (k < count)
        texts = texts_of_output(env, bound.queue.tasks[bound.queue.count - 1], k, prefix, most, arena);
    queue_release(&bound.queue);
    return texts;
}
