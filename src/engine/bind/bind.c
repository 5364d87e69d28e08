/* The binder's entry points. */
#include "engine/bind/bind.h"

#include "engine/bind/bind_internal.h"

static struct binder binder_new(struct env *env, bool checking, struct arena *arena, struct diags *diags)
{
    return (struct binder){.env = env, .checking = checking, .arena = arena, .diags = diags};
}

static void bound_init(struct bound *bound, struct arena *arena)
{
    *bound = (struct bound){.kind = BOUND_UNKNOWN, .show_rows = -1};
    queue_init(&bound->queue, arena);
}

/* Sets what the pipeline is. Without errors, only a check leaves parts of a flow unknown. */
static void conclude(const struct flow *flow, struct bound *bound)
{
    bound->scalar_name = flow->scalar ? flow->scalar_name : NULL;
    if (flow->scalar) {
        bound->kind = flow->scalar_known ? BOUND_SCALAR : BOUND_UNKNOWN;
        bound->scalar_kind = flow->kind;
        bound->scalar_logical = flow->logical;
        return;
    }
    bound->kind = flow->open ? BOUND_UNKNOWN : BOUND_RELATION;
    bound->shape = flow->shape;
    for (size_t i = 0; i < flow->count; i++) {
        if (!flow->columns[i].known)
            bound->kind = BOUND_UNKNOWN;
    }
}

/* In a check, a constant that only running can compute is a scalar of known kind. */
static void conclude_constant(enum known known, const struct scalar *scalar, struct bound *bound)
{
    if (known == KNOWN_NOTHING)
        return;
    bound->kind = known == KNOWN_VALUE ? BOUND_CONSTANT : BOUND_SCALAR;
    bound->scalar = *scalar;
    bound->scalar_kind = scalar->kind;
    bound->scalar_logical = scalar->logical;
}

/* Whether the statement is only the name of a `let` scalar. */
static bool names_scalar(const struct env *env, const struct pipeline *pipeline, struct bound *bound)
{
    if (pipeline->source.kind != SOURCE_NAME || pipeline->stage_count > 0)
        return false;
    const char *argument = name_argument(&pipeline->source.name);
    const struct binding *binding = env_find(env, argument != NULL ? argument : pipeline->source.name.text);
    if (binding == NULL || binding->kind != BINDING_SCALAR)
        return false;
    conclude_constant(binding->unknown ? KNOWN_KIND : KNOWN_VALUE, &binding->scalar, bound);
    return true;
}

/* Binds the pipeline with its sources as they are. */
static enum status bind_once(struct binder *binder, const struct pipeline *pipeline, struct sources *sources,
                             struct timing *timing, struct bound *bound)
{
    int64_t began = now_ns();
    struct flow flow;
    *binder = binder_new(binder->env, binder->checking, binder->arena, binder->diags);
    bound_init(bound, binder->arena);
    binder->queue = &bound->queue;
    binder->sources = sources;
    binder->errors = sources->errors;
    bind_stages(binder, pipeline, &flow, bound);
    timing_add(timing, PHASE_BIND, "", now_ns() - began, 0);
    if (binder->cancelled || binder->errors > 0) {
        queue_release(&bound->queue);
        return binder->cancelled ? STATUS_CANCELLED : STATUS_FAILED;
    }
    conclude(&flow, bound);
    return STATUS_OK;
}

/* The columns that the queue's tasks read, in the arena. */
static struct column **needed_columns(const struct queue *queue, size_t *count)
{
    size_t capacity = 0;
    struct column **needed = arena_reserve(queue->arena, NULL, 0, &capacity, sizeof(struct column *));
    *count = 0;
    queue_prune(queue);
    for (size_t t = 0; t < queue->count; t++) {
        const struct task *task = queue->tasks[t];
        for (size_t k = 0; k < task->input_count; k++) {
            if (!task->inputs[k].needed || !task->inputs[k].column)
                continue;
            needed = arena_reserve(queue->arena, needed, *count, &capacity, sizeof(struct column *));
            needed[(*count)++] = task->inputs[k].column;
        }
    }
    return needed;
}

enum status bind_pipeline(struct env *env, const struct pipeline *pipeline, bool checking, struct arena *arena,
                          struct timing *timing, struct bound *bound, struct diags *diags)
{
    struct binder binder = binder_new(env, checking, arena, diags);
    bound_init(bound, arena);
    while (pipeline->source.kind == SOURCE_PIPELINE && pipeline->stage_count == 0)
        pipeline = pipeline->source.pipeline;
    if (names_scalar(env, pipeline, bound))
        return STATUS_OK;

    struct sources sources;
    sources_load(env, pipeline, checking, arena, timing, &sources, diags);
    enum status status = sources.cancelled ? STATUS_CANCELLED : STATUS_OK;
    while (status == STATUS_OK) {
        size_t diags_before = diags->count, count = 0;
        enum status binding = bind_once(&binder, pipeline, &sources, timing, bound);
        bool is_bound = binding == STATUS_OK;
        if (checking || sources.errors > 0) {
            status = binding;
            break;
        }
        struct column **needed = is_bound ? needed_columns(&bound->queue, &count) : NULL;
        if (!sources_lack(&sources, needed, count, arena)) {
            status = binding;
            break;
        }
        /* It needs columns that are unread, or could not be bound because of types that only reading tells: bind it
         * again when they are read. */
        diags->count = diags_before;
        if (is_bound)
            queue_release(&bound->queue);
        status = sources_read(&sources, env, needed, count, timing, diags);
    }
    sources_release(&sources);
    return status;
}

enum status bind_expression(struct env *env, const struct expr *expr, const struct subject *subject, bool checking,
                            struct arena *arena, struct bound *bound, struct diags *diags)
{
    struct binder binder = binder_new(env, checking, arena, diags);
    struct code code;
    struct scalar scalar;
    bound_init(bound, arena);
    code_init(&code, arena);
    struct scope scope = scope_without_columns(
        &binder, &code,
        "an expression on its own can use `let` values; columns come from a pipeline: `load PATH | map ...`");
    scope.subject = subject;
    enum known known = bind_constant(&scope, expr, &scalar);
    if (binder.errors > 0)
        return STATUS_FAILED;
    conclude_constant(known, &scalar, bound);
    return STATUS_OK;
}

enum status bind_definition(struct env *env, const struct stmt *def, struct arena *arena, struct diags *diags)
{
    struct binder binder = binder_new(env, true, arena, diags);
    bind_function_body(&binder, def);
    return binder.errors > 0 ? STATUS_FAILED : STATUS_OK;
}
