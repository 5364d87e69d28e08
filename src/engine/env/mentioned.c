#include "engine/env/mentioned.h"

/* A walk through the tree. */
struct mention {
    struct mentioned *mentioned;
    struct arena *arena;
    bool others; /* columns are named otherwise: by their positions, patterns */
};

static void in_pipeline(struct mention *mention, const struct pipeline *pipeline);

static void in_source(struct mention *mention, const struct source_node *source)
{
    if (source && source->pipeline)
        in_pipeline(mention, source->pipeline);
}

static void add_name(struct mention *mention, const struct expr *expr)
{
    const struct name *parts[] = {&expr->name, &expr->column, &expr->member};
    const char *path = NULL;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *text = parts[i]->text;
        if (text)
            path = path ? arena_printf(mention->arena, "%s.%s", path, text) : text;
    }
    struct mentioned *mentioned = mention->mentioned;
    if (path)
        *ARENA_PUSH(mention->arena, mentioned->paths, mentioned->count, mentioned->capacity) = path;
}

static void in_expr(struct mention *mention, const struct expr *expr)
{
    if (!expr)
        return;
    if (expr->kind == EXPR_NAME || expr->kind == EXPR_INDEX)
        add_name(mention, expr);
    mention->others = mention->others || expr->kind == EXPR_SET || expr->kind == EXPR_POSITION;
    for (size_t i = 0; i < expr->arg_count; i++)
        in_expr(mention, expr->args[i]);
    in_source(mention, expr->source);
}

static void in_items(struct mention *mention, const struct item *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        in_expr(mention, items[i].expr);
}

static void in_stage(struct mention *mention, const struct stage *stage)
{
    in_items(mention, stage->items, stage->item_count);
    in_items(mention, stage->aggregates, stage->aggregate_count);
    in_expr(mention, stage->across);
    for (size_t i = 0; i < stage->body_count; i++)
        in_stage(mention, &stage->body[i]);
    for (size_t i = 0; i < stage->source_count; i++)
        in_source(mention, &stage->sources[i]);
    mention->others = mention->others || stage->loop;
}

static void in_pipeline(struct mention *mention, const struct pipeline *pipeline)
{
    in_source(mention, &pipeline->source);
    for (size_t i = 0; i < pipeline->stage_count; i++)
        in_stage(mention, &pipeline->stages[i]);
}

/* Whether the stage's result has only columns that it names, or none. */
static bool names_all(enum stage_kind stage)
{
    return stage == STAGE_GROUP || stage == STAGE_MAP || stage == STAGE_PICK || stage == STAGE_HIST ||
           stage_does(stage, GIVES_VALUE);
}

bool find_mentioned(const struct pipeline *pipeline, struct arena *arena, struct mentioned *mentioned)
{
    *mentioned = (struct mentioned){0};
    struct mention mention = {.mentioned = mentioned, .arena = arena};
    bool all = false;
    for (size_t i = 0; i < pipeline->stage_count && !all; i++)
        all = names_all(pipeline->stages[i].word->stage);
    if (all)
        in_pipeline(&mention, pipeline);
    return all && !mention.others;
}
