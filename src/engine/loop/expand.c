#include "base/text.h"
#include "engine/expression/names_unknown.h"
#include "engine/loop/loop_stages.h"

#include "parser/foreign.h"

#include <string.h>

enum { LIMIT_EXPANDED = 100000 }; /* stages of a statement */

/* The name of the rows before the stages of a definition that is checked: none that can be written. */
static const char UNKNOWN_SOURCE[] = "";

/* The arguments of a definition while it is copied; they have no uses left. */
struct frame {
    const struct stmt *def;
    const struct stage_argument *arguments;
    const struct call *call;
    const struct frame *caller;
};

/* The definition of a local name, and its copy. */
struct copied_definition {
    const struct expr *from, *to;
    const struct copied_definition *before;
};

struct expansion {
    struct binder *binder;
    const struct frame *frame; /* NULL: outside of definitions */
    const struct head *head;   /* of the stage: its names hide parameters; or NULL */
    size_t count;              /* of stages so far */
    const struct copied_definition *definitions;
};

struct stage_array {
    struct stage *at;
    size_t count, capacity;
};

static void expand_stages(struct expansion *x, const struct stage *stages, size_t count, struct stage_array *all);
static struct pipeline *copy_pipeline(struct expansion *x, const struct pipeline *pipeline);

static bool head_has(const struct head *head, const char *name)
{
    return head && ROW_NAMED(head->names, head->count, name);
}

/* The argument for a parameter of this name; NULL if there is none. */
static const struct stage_argument *argument_of(const struct expansion *x, const char *name)
{
    const struct frame *frame = x->frame;
    if (!frame || !frame->arguments || !name || head_has(x->head, name))
        return NULL;
    const struct name *parameter = ROW_NAMED(frame->def->params, frame->def->param_count, name);
    return parameter ? &frame->arguments[parameter - frame->def->params] : NULL;
}

static void not_a_value(const struct expansion *x, const struct stage_argument *argument, struct span use)
{
    bind_error_second(x->binder, argument->span, use, "used as a value here",
                      "a relation may be given where the definition names one, as in `zip`",
                      "this argument is a relation, but a value is needed");
}

static void not_a_relation(const struct expansion *x, const struct stage_argument *argument, struct span use)
{
    bind_error_second(x->binder, argument->span, use, "used as a relation here",
                      "give a name, or a pipeline in parentheses",
                      "this argument is a value, but a relation is needed");
}

/* The name that the argument is, for a place where only a name can stand. */
static void copy_name(const struct expansion *x, struct name *name, const char *hint)
{
    const struct stage_argument *argument = argument_of(x, name->text);
    if (!argument)
        return;
    if (argument->expr && argument->expr->kind == EXPR_NAME)
        *name = argument->expr->name;
    else
        bind_error_second(x->binder, argument->span, name->span, "used as a name here", hint,
                          "this argument has to be a name");
}

static void copy_source(struct expansion *x, struct source_node *source);

/* The copy of a local name's definition; that itself if it is outside of what is copied. */
static const struct expr *copy_of_definition(const struct expansion *x, const struct expr *definition)
{
    for (const struct copied_definition *copied = x->definitions; copied; copied = copied->before) {
        if (copied->from == definition)
            return copied->to;
    }
    return definition;
}

static void add_definition(struct expansion *x, const struct expr *from, const struct expr *to)
{
    x->definitions = ARENA_NEW(x->binder->arena, struct copied_definition, from, to, x->definitions);
}

static struct expr *copy_expr(struct expansion *x, struct expr *expr)
{
    if (!expr)
        return NULL;
    struct arena *arena = x->binder->arena;
    if (expr->kind == EXPR_NAME && !expr->definition) {
        const struct stage_argument *argument = argument_of(x, expr->name.text);
        if (argument && !argument->expr)
            not_a_value(x, argument, expr->span);
        if (argument && argument->expr)
            return argument->expr;
    }
    struct expr element;
    if (expr_of_path(expr, arena, &element) && argument_of(x, element.name.text))
        expr = &element;
    struct expr *copy = arena_copy(arena, expr, sizeof *copy);
    copy->args = arena_array(arena, expr->arg_count + 1, sizeof *copy->args);
    copy->definition = copy_of_definition(x, expr->definition);
    for (size_t i = 0; i < expr->arg_count; i++) {
        copy->args[i] = copy_expr(x, expr->args[i]);
        if (expr->kind == EXPR_LET || expr->kind == EXPR_FOLD)
            add_definition(x, expr->args[i], copy->args[i]);
    }
    if (expr->kind == EXPR_INDEX && !expr->definition)
        copy_name(x, &copy->name, "`let NAME = ...`, before, names a relation whose elements are read by position");
    if (expr->source) {
        copy->source = arena_alloc(arena, sizeof *copy->source);
        *copy->source = *expr->source;
        copy_source(x, copy->source);
    }
    if (expr->frame) {
        struct window_frame *frame = arena_copy(arena, expr->frame, sizeof *frame);
        frame->first = copy_expr(x, frame->first);
        frame->last = copy_expr(x, frame->last);
        copy->frame = frame;
    }
    return copy;
}

static struct expr **copy_exprs(struct expansion *x, struct expr *const *exprs, size_t count)
{
    struct expr **copies = arena_array(x->binder->arena, count + 1, sizeof *copies);
    for (size_t i = 0; i < count; i++)
        copies[i] = copy_expr(x, exprs[i]);
    return copies;
}

static struct item *copy_items(struct expansion *x, const struct item *items, size_t count)
{
    if (!items)
        return NULL;
    struct item *copies = arena_array(x->binder->arena, count + 1, sizeof *copies);
    for (size_t i = 0; i < count; i++) {
        copies[i] = items[i];
        copies[i].expr = copy_expr(x, items[i].expr);
    }
    return copies;
}

/* Makes of a name the source that the argument is. */
static void source_of_argument(const struct expansion *x, const struct stage_argument *argument,
                               struct source_node *source)
{
    const struct name as = source->as;
    if (argument->source) {
        *source = *argument->source;
    } else if (argument->expr->kind == EXPR_PIPELINE) { /* it looks like one that has a value */
        *source = *argument->expr->source;
    } else if (argument->expr->kind == EXPR_NAME) {
        source->name = argument->expr->name;
        source->span = argument->expr->span;
    } else {
        not_a_relation(x, argument, source->span);
    }
    source->as = as;
}

/* Copies what the node, a copy already, points to. */
static void copy_source(struct expansion *x, struct source_node *source)
{
    const struct stage_argument *argument = source->kind == SOURCE_NAME ? argument_of(x, source->name.text) : NULL;
    if (argument) {
        source_of_argument(x, argument, source);
        return;
    }
    source->from = copy_expr(x, source->from);
    source->to = copy_expr(x, source->to);
    source->by = copy_expr(x, source->by);
    source->items = copy_exprs(x, source->items, source->item_count);
    if (source->kind != SOURCE_PIPELINE)
        return;
    const struct head *outer = x->head;
    source->pipeline = copy_pipeline(x, source->pipeline);
    x->head = outer;
}

static struct stage_array stages_copied(struct expansion *x, const struct stage *stages, size_t count)
{
    struct stage_array all = {0};
    const struct head *outer = x->head;
    expand_stages(x, stages, count, &all);
    x->head = outer;
    return all;
}

static struct pipeline *copy_pipeline(struct expansion *x, const struct pipeline *pipeline)
{
    struct pipeline *copy = arena_copy(x->binder->arena, pipeline, sizeof *copy);
    copy_source(x, &copy->source);
    const struct stage_array all = stages_copied(x, pipeline->stages, pipeline->stage_count);
    copy->stages = all.at;
    copy->stage_count = all.count;
    return copy;
}

/* A stage of the language, with copies of what it has. */
static void copy_stage(struct expansion *x, struct stage *stage)
{
    struct arena *arena = x->binder->arena;
    x->head = stage->head;
    stage->call = x->frame ? x->frame->call : NULL;
    stage->items = copy_items(x, stage->items, stage->item_count);
    stage->aggregates = copy_items(x, stage->aggregates, stage->aggregate_count);
    stage->most = copy_items(x, stage->most, 1);
    stage->initial = copy_items(x, stage->initial, stage->initial_count);
    struct source_node *sources = arena_array(arena, stage->source_count + 1, sizeof *sources);
    for (size_t i = 0; i < stage->source_count; i++) {
        sources[i] = stage->sources[i];
        copy_source(x, &sources[i]);
    }
    stage->sources = sources;
    stage->bounds = copy_exprs(x, stage->bounds, stage->bound_count);
    struct expr **const exprs[] = {&stage->across, &stage->values,    &stage->otherwise, &stage->into,
                                   &stage->rounds, &stage->condition, &stage->until};
    for (size_t i = 0; i < sizeof exprs / sizeof *exprs; i++)
        *exprs[i] = copy_expr(x, *exprs[i]);
    if (stage->along.text)
        copy_name(x, &stage->along, "as in `shape i 4, j 3` before, with `i` as the argument");
    const struct stage_array body = stages_copied(x, stage->body, stage->body_count);
    stage->body = body.at;
    stage->body_count = body.count;
    if (stage->loop)
        stage->loop = copy_pipeline(x, stage->loop);
    x->head = NULL;
}

static void unknown_stage(struct binder *binder, const struct stage *stage)
{
    const char *name = stage->called.text;
    const size_t own = binder->env->count;
    struct candidates names = candidates_new(binder->arena, word_count + own);
    candidates_add_bindings(&names, binder->env, BINDING_STAGE);
    for (size_t i = 0; i < word_count; i++) {
        if (words[i].stage != STAGE_NONE)
            names.at[names.count++] = words[i].text;
    }
    const struct binding *binding = env_find(binder->env, name);
    const char *foreign = foreign_advice(name, strlen(name), FOREIGN_STAGE);
    const char *hint = "`pick NAME, ...` selects columns, `bitor(a, b)` is bitwise or; `.help stages` lists all stages";
    const char *nearest;
    if (foreign)
        hint = foreign;
    else if (binding && binding->kind == BINDING_FUNCTION)
        hint = arena_printf(binder->arena, "`%s` is a function of values: use it within one, as in `map %s(...)`", name,
                            name);
    else if (strlen(name) > 1 && nearest_names(name, names.at, names.count, &nearest, 1) > 0)
        hint = arena_printf(binder->arena, "did you mean `%s`?", nearest);
    bind_error(binder, stage->called.span, hint, "expected a stage (select, take, zip, map, ...), found `%s`", name);
}

/* Whether the definition is being copied, or checked, already. */
static bool is_recursive(const struct expansion *x, const struct stmt *def)
{
    const struct stmt *defining = x->binder->defining;
    if (defining && strcmp(defining->name.text, def->name.text) == 0)
        return true;
    for (const struct frame *frame = x->frame; frame; frame = frame->caller) {
        if (frame->def == def)
            return true;
    }
    return false;
}

static struct stage_argument *copy_arguments(struct expansion *x, const struct stage *stage)
{
    struct stage_argument *copies = arena_array(x->binder->arena, stage->argument_count + 1, sizeof *copies);
    for (size_t i = 0; i < stage->argument_count; i++) {
        copies[i] = stage->arguments[i];
        const struct stage_argument *outer =
            copies[i].expr && copies[i].expr->kind == EXPR_NAME ? argument_of(x, copies[i].expr->name.text) : NULL;
        if (outer) {
            copies[i] = *outer;
            continue;
        }
        copies[i].expr = copy_expr(x, copies[i].expr);
        if (!copies[i].source)
            continue;
        struct source_node *source = arena_copy(x->binder->arena, copies[i].source, sizeof *source);
        copy_source(x, source);
        copies[i].source = source;
    }
    return copies;
}

/* Adds the stages of the definition that the stage uses. */
static void expand_call(struct expansion *x, const struct stage *stage, struct stage_array *all)
{
    struct binder *binder = x->binder;
    const char *name = stage->called.text;
    const struct binding *binding = env_find(binder->env, name);
    const bool defining = binder->defining && strcmp(binder->defining->name.text, name) == 0;
    if (binding && binding->kind == BINDING_STAGE && binding->unknown && !defining)
        return; /* its definition failed and was reported */
    if ((!binding || binding->kind != BINDING_STAGE) && !defining) {
        unknown_stage(binder, stage);
        return;
    }
    const struct stmt *def = defining ? binder->defining : binding->function;
    if (is_recursive(x, def)) {
        bind_error(binder, stage->span, "a definition stands for its stages; `repeat` runs stages again and again",
                   "`%s` uses itself", name);
        return;
    }
    if (!bind_takes(binder, def, stage->span, stage->argument_count))
        return;
    struct call *call = arena_alloc(binder->arena, sizeof *call);
    *call = (struct call){def, stage->span, x->frame ? x->frame->call : NULL, true};
    const struct frame frame = {def, copy_arguments(x, stage), call, x->frame};
    const struct frame *outer = x->frame;
    x->frame = &frame;
    const struct call *before = binder->call;
    binder->call = call;
    expand_stages(x, def->stages, def->stage_count, all);
    binder->call = before;
    x->frame = outer;
}

static void expand_stages(struct expansion *x, const struct stage *stages, size_t count, struct stage_array *all)
{
    struct binder *binder = x->binder;
    for (size_t i = 0; i < count && !bind_gave_up(binder); i++) {
        if (stages[i].word->stage == STAGE_CALL) {
            expand_call(x, &stages[i], all);
            continue;
        }
        if (++x->count > LIMIT_EXPANDED) {
            bind_error(binder, stages[i].span, "`let` names a result in between",
                       "the definitions of this statement have more than %d stages", LIMIT_EXPANDED);
            binder->errors = LIMIT_ERRORS;
            return;
        }
        struct stage stage = stages[i];
        copy_stage(x, &stage);
        *ARENA_PUSH(binder->arena, all->at, all->count, all->capacity) = stage;
    }
}

/* ---- whether there is something to expand ---- */

static bool any_in_stages(const struct stage *stages, size_t count);

static bool any_in_source(const struct source_node *source)
{
    return source && source->kind == SOURCE_PIPELINE &&
           (any_in_source(&source->pipeline->source) ||
            any_in_stages(source->pipeline->stages, source->pipeline->stage_count));
}

static bool any_in_expr(const struct expr *expr)
{
    bool any = expr && any_in_source(expr->source);
    for (size_t i = 0; expr && i < expr->arg_count && !any; i++)
        any = any_in_expr(expr->args[i]);
    return any;
}

static bool any_in_items(const struct item *items, size_t count)
{
    for (size_t i = 0; items && i < count; i++) {
        if (any_in_expr(items[i].expr))
            return true;
    }
    return false;
}

static bool any_in_stages(const struct stage *stages, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct stage *stage = &stages[i];
        if (stage->word->stage == STAGE_CALL || any_in_items(stage->items, stage->item_count) ||
            any_in_items(stage->aggregates, stage->aggregate_count) || any_in_stages(stage->body, stage->body_count) ||
            any_in_expr(stage->condition) || any_in_expr(stage->until))
            return true;
        for (size_t k = 0; k < stage->source_count; k++) {
            if (any_in_source(&stage->sources[k]))
                return true;
        }
        if (stage->loop &&
            (any_in_source(&stage->loop->source) || any_in_stages(stage->loop->stages, stage->loop->stage_count)))
            return true;
    }
    return false;
}

const struct pipeline *stages_expand(struct binder *binder, const struct pipeline *pipeline)
{
    if (!any_in_source(&pipeline->source) && !any_in_stages(pipeline->stages, pipeline->stage_count))
        return pipeline;
    struct expansion x = {.binder = binder};
    return copy_pipeline(&x, pipeline);
}

const struct pipeline *stages_of_definition(struct binder *binder, const struct stmt *def)
{
    struct pipeline *pipeline = ARENA_NEW(binder->arena, struct pipeline, .stages = def->stages,
                                          .stage_count = def->stage_count, .span = def->span);
    pipeline->source =
        (struct source_node){.kind = SOURCE_NAME, .span = def->name.span, .name = {UNKNOWN_SOURCE, def->name.span}};
    env_set_unknown(binder->env, UNKNOWN_SOURCE, BINDING_RELATION);
    for (size_t i = 0; i < def->param_count; i++)
        env_set_unknown(binder->env, def->params[i].text, BINDING_RELATION);
    return stages_expand(binder, pipeline);
}
