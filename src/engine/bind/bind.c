/* The binder's entry points. */
#include "engine/bind/bind.h"

#include "engine/bind/bind_internal.h"
#include "engine/bind/bind_needs.h"
#include "engine/bind/bind_remote.h"
#include "engine/loop/expand.h"

#include <string.h>

static enum known value_of_pipeline(struct binder *binder, const struct expr *expr, struct scalar *scalar);

static struct binder binder_new(struct env *env, bool checking, struct arena *arena, struct diags *diags)
{
    return (struct binder){
        .env = env, .checking = checking, .arena = arena, .diags = diags, .value_of_pipeline = value_of_pipeline};
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
    bound->joined = flow->joined;
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
    const struct binding *binding = env_find(env, argument ? argument : pipeline->source.name.text);
    if (!binding && !argument)
        binding = name_constant(pipeline->source.name.text);
    if (!binding || binding->kind != BINDING_SCALAR)
        return false;
    conclude_constant(binding->unknown ? KNOWN_KIND : KNOWN_VALUE, &binding->scalar, bound);
    return true;
}

/* The expression that a statement `NAME.COLUMN` is, which reads as a path: of a `let` relation, unless there is such a
 * file. NULL: it is none. */
static const struct expr *element_of_path(const struct env *env, const struct pipeline *pipeline, struct arena *arena)
{
    const struct source_node *source = &pipeline->source;
    const struct path_item *item = source->path_count == 1 ? &source->paths[0] : NULL;
    struct file_stamp stamp;
    if (!item || pipeline->stage_count > 0 || source->span.end - source->span.begin != strlen(item->path.text))
        return NULL;
    const char *path = item->path.text, *point = strchr(path, '.');
    if (!point || strpbrk(path, "/~") || strchr(point + 1, '.'))
        return NULL;
    const size_t length = (size_t)(point - path);
    const char *name = arena_text(arena, path, length);
    const struct binding *binding = env_find(env, name);
    if (!binding || binding->kind != BINDING_RELATION || file_stamp_of(path, &stamp))
        return NULL;
    struct expr *expr = arena_alloc(arena, sizeof *expr);
    *expr = (struct expr){.kind = EXPR_INDEX, .span = source->span, .depth = 1};
    expr->name = expr->column = (struct name){name, source->span};
    expr->name.span.end = expr->name.span.begin + (uint32_t)length;
    expr->column.text = point + 1;
    expr->column.span.begin = expr->name.span.end + 1;
    return expr;
}

/* Keeps the wanted columns of the result. */
static void keep_wanted(struct binder *binder, const struct bind_request *request, struct flow *flow)
{
    if (!request->wanted || flow->open || !flow->task)
        return;
    struct task *task = task_reading(binder, "pick", request->pipeline->span, flow);
    struct slot *columns = arena_array(binder->arena, flow->count + 1, sizeof *columns);
    struct term *terms = arena_array(binder->arena, flow->count + 1, sizeof *terms);
    size_t count = 0;
    for (size_t k = 0; k < flow->count; k++) {
        if (!request->wanted[k])
            continue;
        columns[count] = flow->columns[k];
        terms[count++] = term_of_column(&task->code, flow, k, request->pipeline->span);
    }
    task_set_outputs(binder, task, flow, columns, terms, count);
}

/* Binds the pipeline with its sources as they are. */
static enum status bind_once(struct binder *binder, const struct bind_request *request, struct sources *sources,
                             struct bound *bound)
{
    const int64_t began = now_ns();
    struct flow flow;
    bound_init(bound, binder->arena);
    binder->queue = &bound->queue;
    binder->sources = sources;
    binder->errors = sources->errors;
    binder->outputs = binder->inlined = 0;
    bind_stages(binder, request->pipeline, &flow, bound);
    keep_wanted(binder, request, &flow);
    timing_add(request->timing, PHASE_BIND, "", now_ns() - began, 0);
    if (binder->cancelled || binder->errors > 0) {
        queue_release(&bound->queue);
        return binder->cancelled ? STATUS_CANCELLED : STATUS_FAILED;
    }
    conclude(&flow, bound);
    return STATUS_OK;
}

static bool has_narrowed(const struct sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        if (sources->files[i].rows)
            return true;
    }
    return false;
}

/* Loads the pipeline's files and binds it; *narrowed: errors say more if it is bound again with request->whole.
 * STATUS_UNABLE: only that can tell its result. */
static enum status bind_with_sources(struct env *env, const struct bind_request *request, struct arena *arena,
                                     struct bound *bound, bool *narrowed, struct diags *diags)
{
    struct bind_request alone = *request;
    struct sources sources;
    struct evaluations evaluations = {0};
    bool row_loops = false, remote = false, done = false;
    sources_load(env, alone.pipeline, alone.checking, arena, alone.timing, &sources, diags);
    enum status status = sources.cancelled ? STATUS_CANCELLED : STATUS_OK;
    if (status == STATUS_OK) {
        struct binder binder = binder_new(env, false, arena, diags);
        binder.workers = alone.runner ? &alone.runner->workers : NULL;
        status = bind_remotely(&binder, &alone, &sources, bind_once, bound, &remote, &done);
    }
    while (!done && status == STATUS_OK) {
        struct binder binder = binder_new(env, alone.checking, arena, diags);
        const size_t diags_before = diags->count;
        binder.evaluations = &evaluations;
        binder.whole = alone.whole && !alone.row_loops;
        binder.workers = alone.runner ? &alone.runner->workers : NULL;
        status = bind_once(&binder, &alone, &sources, bound);
        const bool is_bound = status == STATUS_OK;
        row_loops = row_loops || binder.row_loops;
        done = (alone.checking && !env->opens_files) || sources.errors > 0 || binder.cancelled;
        if (!done)
            status = provide_columns(&binder, &alone, &sources, status, bound, diags_before, &done);
        if (is_bound && !(done && status == STATUS_OK))
            queue_release(&bound->queue);
    }
    *narrowed = has_narrowed(&sources) || row_loops;
    bound->narrowed = *narrowed || remote;
    evaluations_release(&evaluations);
    sources_release(&sources);
    return status;
}

enum status bind_pipeline(struct env *env, const struct bind_request *request, struct arena *arena, struct bound *bound,
                          struct diags *diags)
{
    struct bind_request alone = *request;
    bool narrowed;
    struct binder expanding = binder_new(env, request->checking, arena, diags);
    alone.pipeline = stages_expand(&expanding, request->pipeline);
    bound_init(bound, arena);
    if (expanding.errors > 0)
        return STATUS_FAILED;
    while (alone.pipeline->source.kind == SOURCE_PIPELINE && alone.pipeline->stage_count == 0 &&
           !alone.pipeline->source.as.text)
        alone.pipeline = alone.pipeline->source.pipeline;
    if (names_scalar(env, alone.pipeline, bound))
        return STATUS_OK;
    const struct expr *element = element_of_path(env, alone.pipeline, arena);
    if (element)
        return bind_expression(env, element, NULL, request->checking, arena, bound, diags);
    const size_t diags_before = diags->count;
    enum status status = bind_with_sources(env, &alone, arena, bound, &narrowed, diags);
    if (status == STATUS_UNABLE || (status == STATUS_FAILED && narrowed)) { /* errors say more about whole files */
        diags->count = diags_before;
        alone.whole = true;
        status = bind_with_sources(env, &alone, arena, bound, &narrowed, diags);
    }
    return status;
}

enum status remote_describe(struct env *env, const struct bind_request *request, struct arena *arena,
                            struct remote_description *description, struct diags *diags)
{
    struct binder binder = binder_new(env, false, arena, diags);
    binder.workers = &request->runner->workers;
    return remote_tell(&binder, request, bind_once, description);
}

bool bound_is_value(const struct bound *bound)
{
    return (bound->kind == BOUND_CONSTANT || bound->kind == BOUND_SCALAR) && !bound->save_path.text;
}

enum status bound_is_no_value(struct span span, struct diags *diags)
{
    diag_error(diags, span, "a value is needed here, but this pipeline gives none");
    diag_hint(diags, "end it in `sum E`, `count`, `max E` or the like");
    return STATUS_FAILED;
}

/* The kind of a pipeline's value. */
static enum known check_value(struct binder *binder, const struct expr *expr, struct scalar *scalar)
{
    struct bound bound;
    const struct bind_request request = {.pipeline = expr->source->pipeline, .checking = true};
    if (bind_pipeline(binder->env, &request, binder->arena, &bound, binder->diags) != STATUS_OK) {
        bind_failed(binder);
        return KNOWN_NOTHING;
    }
    const bool constant = bound.kind == BOUND_CONSTANT, single = bound_is_value(&bound);
    *scalar = constant ? bound.scalar : (struct scalar){.kind = bound.scalar_kind, .logical = bound.scalar_logical};
    if (!single && bound.kind != BOUND_UNKNOWN) {
        bound_is_no_value(expr->source->pipeline->span, binder->diags);
        bind_failed(binder);
    }
    queue_release(&bound.queue);
    return !single ? KNOWN_NOTHING : constant ? KNOWN_VALUE : KNOWN_KIND;
}

static enum known value_of_pipeline(struct binder *binder, const struct expr *expr, struct scalar *scalar)
{
    struct value_runner *values = &binder->env->values;
    for (const struct computed_value *computed = values->computed; computed; computed = computed->before) {
        if (computed->expr == expr) {
            *scalar = computed->scalar;
            return KNOWN_VALUE;
        }
    }
    if (binder->checking || binder->defining || !values->run)
        return check_value(binder, expr, scalar);
    if (binder->errors > 0)
        return KNOWN_NOTHING;
    const enum status status =
        values->run(values->context, expr->source->pipeline, binder->arena, scalar, binder->diags);
    if (status != STATUS_OK) {
        binder->cancelled = binder->cancelled || status == STATUS_CANCELLED;
        bind_failed(binder);
        return KNOWN_NOTHING;
    }
    struct computed_value *computed = arena_alloc(binder->arena, sizeof *computed);
    *computed = (struct computed_value){expr, *scalar, values->computed};
    values->computed = computed;
    return KNOWN_VALUE;
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
    const enum known known = bind_constant(&scope, expr, &scalar);
    if (binder.cancelled || binder.errors > 0)
        return binder.cancelled ? STATUS_CANCELLED : STATUS_FAILED;
    conclude_constant(known, &scalar, bound);
    return STATUS_OK;
}

/* Binds the stages of a definition after rows of which nothing is known. */
static enum status bind_stage_definition(struct env *env, const struct stmt *def, struct arena *arena,
                                         struct diags *diags)
{
    struct env *inside = env_copy(env);
    struct binder binder = binder_new(inside, true, arena, diags);
    const struct word *word = word_find(def->name.text, strlen(def->name.text));
    if (word && word->stage != STAGE_NONE)
        bind_error(&binder, def->name.span, "choose another name", "`%s` is a stage already", def->name.text);
    check_parameters(&binder, def);
    binder.defining = def;
    const struct pipeline *pipeline = binder.errors == 0 ? stages_of_definition(&binder, def) : NULL;
    enum status status = binder.errors > 0 ? STATUS_FAILED : STATUS_OK;
    if (status == STATUS_OK) {
        struct bound bound;
        status =
            bind_pipeline(inside, &(struct bind_request){.pipeline = pipeline, .checking = true}, arena, &bound, diags);
        if (status == STATUS_OK)
            queue_release(&bound.queue);
    }
    env_free(inside);
    return status;
}

enum status bind_definition(struct env *env, const struct stmt *def, struct arena *arena, struct diags *diags)
{
    if (def->stages)
        return bind_stage_definition(env, def, arena, diags);
    struct binder binder = binder_new(env, true, arena, diags);
    bind_function_body(&binder, def);
    return binder.errors > 0 ? STATUS_FAILED : STATUS_OK;
}
