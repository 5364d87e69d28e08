/* The binder's entry points. */
#include "engine/bind/bind.h"

#include "engine/bind/bind_internal.h"
#include "engine/bind/bind_needs.h"
#include "engine/bind/stage_order.h"
#include "engine/loop/loop_stages.h"
#include "engine/source/bind_remote.h"

#include <string.h>

struct binder binder_new(struct facts *facts, struct arena *arena, struct needs *needs, struct diags *diags)
{
    return (struct binder){
        .facts = facts, .env = facts->env, .checking = facts->checking, .arena = arena, .needs = needs, .diags = diags};
}

void bound_init(struct bound *bound, struct arena *arena)
{
    *bound = (struct bound){.kind = BOUND_UNKNOWN, .show_rows = SHOW_SOME};
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
    if (!point || strpbrk(path, "/~"))
        return NULL;
    const size_t length = (size_t)(point - path);
    const char *name = arena_text(arena, path, length);
    const struct binding *binding = env_find(env, name);
    if (!binding || binding->kind != BINDING_RELATION || file_stamp_of(path, &stamp))
        return NULL;
    struct expr *expr = ARENA_NEW(arena, struct expr, .kind = EXPR_INDEX, .span = source->span, .depth = 1);
    expr->name = expr->column = (struct name){name, source->span};
    expr->name.span.end = expr->name.span.begin + (uint32_t)length;
    expr->column.text = point + 1;
    expr->column.span.begin = expr->name.span.end + 1;
    return expr;
}

/* Keeps the wanted columns of the result. */
static void keep_wanted(struct binder *binder, struct span span, struct flow *flow)
{
    const struct facts *facts = binder->facts;
    const bool gone = facts->rest != facts->pipeline && facts->rest->stage_count == 0; /* the server kept them */
    if (!facts->wanted || gone || flow->open || !flow->task)
        return;
    struct task *task = task_reading(binder, "pick", span, flow);
    struct slot *columns = arena_array(binder->arena, flow->count + 1, sizeof *columns);
    struct term *terms = arena_array(binder->arena, flow->count + 1, sizeof *terms);
    size_t count = 0;
    for (size_t k = 0; k < flow->count; k++) {
        if (!facts->wanted[k])
            continue;
        columns[count] = flow->columns[k];
        terms[count++] = term_of_column(&task->code, flow, k, span);
    }
    task_set_outputs(binder, task, flow, columns, terms, count);
}

enum status bind_rest(struct binder *binder, struct bound *bound)
{
    const struct facts *facts = binder->facts;
    const int64_t began = now_ns();
    struct flow flow;
    binder->queue = &bound->queue;
    binder->errors = facts->sources.errors;
    bind_stages(binder, facts->rest, &flow, bound);
    keep_wanted(binder, facts->rest->span, &flow);
    timing_add(facts->timing, PHASE_BIND, "", now_ns() - began, 0);
    if (binder->cancelled || binder->errors > 0)
        return binder->cancelled ? STATUS_CANCELLED : STATUS_FAILED;
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

/* Whether files of a source that are not open have to be: the source is only listed, or a name may be one of theirs. */
static bool lacks_files(const struct binder *binder, struct bound *bound, bool is_bound)
{
    const struct sources *sources = &binder->facts->sources;
    bool left_out = false;
    for (size_t i = 0; i < sources->count; i++) {
        const struct source_file *file = &sources->files[i];
        left_out = left_out || source_leaves_out(file);
        bound->file_count += file->list_count;
        bound->opened_count += file->opened;
    }
    return sources->errors == 0 && !binder->cancelled && (sources_listed(sources) || (left_out && !is_bound));
}

/* Binds the pipeline, whose files are open. */
static enum status bind_opened(struct binder *binder, struct bound *bound)
{
    const struct facts *facts = binder->facts;
    const bool asks =
        facts->runs && !facts->checking && (!facts->careful || facts->seeks) && facts->sources.errors == 0;
    if (names_scalar(binder->env, facts->rest, bound))
        return STATUS_OK;
    if (facts->describes)
        return remote_describe(binder, &bound->remote);
    if (asks && !facts->asked) {
        binder->needs->part = remote_find(binder);
        if (binder->needs->what == NEED_NOTHING)
            binder->needs->what = NEED_SERVER;
        return STATUS_OK;
    }
    if (facts->answer) {
        *bound = *facts->answer;
        return STATUS_OK;
    }
    const enum status status = bind_rest(binder, bound);
    const bool is_bound = status == STATUS_OK, ordered = facts->rest != facts->pipeline && !facts->unordered;
    if (lacks_files(binder, bound, is_bound)) {
        binder->needs->what = NEED_CHOICE;
        binder->needs->chooses = is_bound;
        return STATUS_OK;
    }
    bound->hasty = has_narrowed(&facts->sources) || binder->row_loops || (is_bound && ordered);
    if (!(facts->checking && !facts->env->opens_files) && facts->sources.errors == 0 && !binder->cancelled)
        find_needs(binder, bound, is_bound);
    return status;
}

static enum status bind_constant_expr(struct binder *binder, const struct facts *facts, struct bound *bound)
{
    const int64_t began = now_ns();
    struct scalar scalar;
    struct scope scope = scope_without_columns(
        binder, NULL,
        "an expression on its own can use `let` values; columns come from a pipeline: `load PATH | map ...`");
    scope.subject = facts->subject;
    const enum known known = bind_constant(&scope, facts->expr, &scalar);
    timing_add(facts->timing, PHASE_BIND, "", now_ns() - began, 0);
    if (binder->cancelled || binder->errors > 0)
        return binder->cancelled ? STATUS_CANCELLED : STATUS_FAILED;
    conclude_constant(known, &scalar, bound);
    return STATUS_OK;
}

static enum status is_no_value(struct span span, struct diags *diags)
{
    return diag_error_hint(diags, span, "end it in `sum E`, `count`, `max E` or the like",
                           "a value is needed here, but this pipeline gives none");
}

enum status bind_tree(struct facts *facts, struct arena *arena, struct bound *bound, struct needs *needs,
                      struct diags *diags)
{
    struct binder binder = binder_new(facts, arena, needs, diags);
    enum status status = STATUS_OK;
    *needs = (struct needs){0};
    bound_init(bound, arena);
    if (facts->function) {
        bind_function_body(&binder, facts->function);
        status = binder.errors > 0 ? STATUS_FAILED : STATUS_OK;
    } else if (facts->expr) {
        status = bind_constant_expr(&binder, facts, bound);
    } else if (facts->opened) {
        status = bind_opened(&binder, bound);
    } else {
        needs->what = NEED_FILES;
    }
    if (needs->value_count > 0 && !binder.cancelled)
        needs->what = NEED_VALUES;
    if (status == STATUS_OK && facts->value && needs->what == NEED_NOTHING && bound->kind != BOUND_UNKNOWN &&
        !bound_is_value(bound))
        status = is_no_value(facts->value->source->pipeline->span, diags);
    return status;
}

enum status facts_open(struct facts *facts, struct arena *arena, struct diags *diags)
{
    struct binder expanding = binder_new(facts, arena, NULL, diags);
    const struct pipeline *pipeline = stages_expand(&expanding, facts->pipeline);
    facts->opened = true;
    if (expanding.errors > 0)
        return STATUS_FAILED;
    while (pipeline->source.kind == SOURCE_PIPELINE && pipeline->stage_count == 0 && !pipeline->source.as.text)
        pipeline = pipeline->source.pipeline;
    if (!facts->checking)
        pipeline = rows_before_texts(facts->env, pipeline, arena);
    facts->pipeline = facts->rest = pipeline;
    facts->expr = element_of_path(facts->env, pipeline, arena);
    if (!facts->expr)
        sources_load(facts->env, pipeline, facts->checking, arena, facts->timing, &facts->sources, diags);
    return facts->sources.cancelled ? STATUS_CANCELLED : STATUS_OK;
}

void facts_close(struct facts *facts)
{
    evaluations_release(&facts->evaluations);
    row_texts_release(&facts->row_texts);
    sources_release(&facts->sources);
    facts->opened = facts->asked = facts->unordered = false;
    facts->stopped = (struct span){0};
    facts->answer = NULL;
}

bool bound_is_value(const struct bound *bound)
{
    return (bound->kind == BOUND_CONSTANT || bound->kind == BOUND_SCALAR) && !bound->save_path.text;
}

const struct pipeline *bind_stage_definition(struct env *inside, const struct stmt *def, struct arena *arena,
                                             struct diags *diags)
{
    struct facts facts = {.env = inside, .checking = true};
    struct binder binder = binder_new(&facts, arena, NULL, diags);
    const struct word *word = word_find(def->name.text, strlen(def->name.text));
    if (word && word->stage != STAGE_NONE)
        bind_error(&binder, def->name.span, "choose another name", "`%s` is a stage already", def->name.text);
    check_parameters(&binder, def);
    binder.defining = def;
    const struct pipeline *pipeline = binder.errors == 0 ? stages_of_definition(&binder, def) : NULL;
    return binder.errors == 0 ? pipeline : NULL;
}
