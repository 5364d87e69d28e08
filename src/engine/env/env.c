#include "engine/env/env.h"

#include "base/heap.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

struct env *env_new(struct file_cache *file_cache)
{
    struct env *env = heap_array(1, sizeof *env);
    env->file_cache = file_cache;
    return env;
}

/* The scalar with a text of its own. */
static struct scalar owned_scalar(struct scalar scalar)
{
    if (!scalar.text.at)
        return scalar;
    char *text = heap_array(scalar.text.length + 1, 1);
    memcpy(text, scalar.text.at, scalar.text.length);
    scalar.text.at = text;
    return scalar;
}

const atomic_int *env_cancel(const struct env *env)
{
    return env->file_cache ? file_cache_cancel(env->file_cache) : NULL;
}

/* Releases the binding's value, not its name. */
static void binding_release(struct binding *binding)
{
    relation_unref(binding->relation);
    if (binding->kind == BINDING_SCALAR)
        free((char *)binding->scalar.text.at);
    *binding = (struct binding){.name = binding->name};
}

void env_free(struct env *env)
{
    if (!env)
        return;
    for (size_t i = 0; i < env->count; i++) {
        binding_release(&env->bindings[i]);
        free(env->bindings[i].name);
    }
    free(env->bindings);
    for (size_t i = 0; i < env->argument_count; i++) {
        free(env->arguments[i].name);
        free(env->arguments[i].text);
    }
    free(env->arguments);
    relation_unref(env->last);
    made_files_free(&env->made);
    free(env);
}

void env_set_argument(struct env *env, const char *name, const char *text)
{
    env->arguments = heap_resize(env->arguments, env->argument_count + 1, sizeof *env->arguments);
    env->arguments[env->argument_count++] = (struct argument){heap_text(name), heap_text(text)};
}

const char *env_argument(const struct env *env, const char *name, size_t length)
{
    for (size_t i = env->argument_count; i > 0; i--) { /* the last one of a name wins */
        const struct argument *argument = &env->arguments[i - 1];
        if (strlen(argument->name) == length && memcmp(argument->name, name, length) == 0)
            return argument->text;
    }
    return NULL;
}

struct env *env_copy(const struct env *env)
{
    struct env *copy = env_new(env->file_cache);
    copy->kept = env->kept;
    copy->bindings = heap_array(env->count, sizeof *copy->bindings);
    copy->count = copy->capacity = env->count;
    for (size_t i = 0; i < env->count; i++) {
        struct binding *binding = &copy->bindings[i];
        *binding = env->bindings[i];
        binding->name = heap_text(binding->name);
        binding->scalar = owned_scalar(binding->scalar);
        if (binding->relation)
            relation_ref(binding->relation);
    }
    env_set_last(copy, env->last);
    copy->keeps_last = env->keeps_last;
    for (size_t i = 0; i < env->argument_count; i++)
        env_set_argument(copy, env->arguments[i].name, env->arguments[i].text);
    return copy;
}

struct binding *env_find(const struct env *env, const char *name)
{
    return ROW_NAMED(env->bindings, env->count, name);
}

/* Finds or adds the binding of this name, without a value. */
static struct binding *binding_for(struct env *env, const char *name, enum binding_kind kind)
{
    struct binding *binding = env_find(env, name);
    if (binding) {
        binding_release(binding);
    } else {
        binding = HEAP_PUSH(env->bindings, env->count, env->capacity);
        *binding = (struct binding){.name = heap_text(name)};
    }
    binding->kind = kind;
    return binding;
}

void env_set_scalar(struct env *env, const char *name, struct scalar scalar)
{
    scalar = owned_scalar(scalar); /* first: the name may hold this text */
    binding_for(env, name, BINDING_SCALAR)->scalar = scalar;
}

void env_set_relation(struct env *env, const char *name, struct relation *relation)
{
    /* The reference comes first: the name may hold this relation. */
    relation_ref(relation);
    binding_for(env, name, BINDING_RELATION)->relation = relation;
}

void env_set_definition(struct env *env, const struct stmt *def)
{
    binding_for(env, def->name.text, def->stages ? BINDING_STAGE : BINDING_FUNCTION)->function = def;
}

struct binding *env_set_unknown(struct env *env, const char *name, enum binding_kind kind)
{
    struct binding *binding = binding_for(env, name, kind);
    binding->unknown = true;
    return binding;
}

bool env_drop(struct env *env, const char *name)
{
    struct binding *binding = env_find(env, name);
    if (!binding)
        return false;
    if (strcmp(name, ENV_LAST) == 0)
        env_set_last(env, NULL);
    binding_release(binding);
    free(binding->name);
    const size_t after = (size_t)(env->bindings + env->count - (binding + 1));
    memmove(binding, binding + 1, after * sizeof *binding);
    env->count--;
    return true;
}

void env_set_last(struct env *env, struct relation *relation)
{
    struct relation *before = env->last;
    env->last = relation ? relation_ref(relation) : NULL;
    relation_unref(before);
}
