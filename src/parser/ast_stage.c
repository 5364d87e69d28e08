/* Building the syntax tree: stages and their parts. */
#include "parser/ast_build.h"

#include <string.h>

static struct stage *stage_new(struct tree *tree, struct token word)
{
    struct stage *stage = arena_alloc(tree->arena, sizeof *stage);
    stage->word = word_canonical(word.word);
    stage->word_span = token_span(tree, word);
    stage->span = stage->word_span;
    return stage;
}

struct stage *stage_items(struct tree *tree, struct token word, struct head *head, struct item_list *items)
{
    struct stage *stage = stage_new(tree, word);
    stage->head = head;
    if (items) {
        stage->items = items->at;
        stage->item_count = items->count;
        stage->span = span_join(stage->span, items->at[items->count - 1].span);
    }
    return stage;
}

struct stage *stage_sources(struct tree *tree, struct token word, struct source_list *sources)
{
    struct stage *stage = stage_new(tree, word);
    stage->sources = sources->at;
    stage->source_count = sources->count;
    stage->span = span_join(stage->span, sources->at[sources->count - 1].span);
    return stage;
}

struct stage *stage_path(struct tree *tree, struct token word, struct token path)
{
    struct stage *stage = stage_new(tree, word);
    stage->path = token_name(tree, path);
    stage->span = span_join(stage->span, stage->path.span);
    return stage;
}

struct stage *stage_saves(struct tree *tree, struct stage *stage, struct token way)
{
    stage->format = token_name(tree, way);
    stage->span = span_join(stage->span, stage->format.span);
    if (strcmp(stage->format.text, "append") == 0 || strcmp(stage->format.text, "replace") == 0)
        return stage;
    if (!tree->failed)
        diag_error_hint(tree->diags, stage->format.span,
                        "`append` adds rows to a table on a server, `replace` takes its place",
                        "`%s` is no way to save", stage->format.text);
    tree->failed = true;
    return stage;
}

struct stage *stage_folders(struct tree *tree, struct stage *stage, struct token format, struct item_list *columns)
{
    stage->format = token_name(tree, format);
    stage->items = columns->at;
    stage->item_count = columns->count;
    stage->span = span_join(stage->span, columns->at[columns->count - 1].span);
    return stage;
}

static void extend_span(struct stage *stage, struct span span)
{
    stage->span = span_join(stage->span, span);
}

struct stage *stage_scatter(struct tree *tree, struct token word, struct source_node *source, struct expr *into)
{
    struct stage *stage = stage_sources(tree, word, source_list_add(tree, NULL, source));
    stage->into = into;
    if (into)
        extend_span(stage, into->span);
    return stage;
}

static void set_initial(struct stage *stage, const struct item_list *initial)
{
    if (!initial)
        return;
    stage->initial = initial->at;
    stage->initial_count = initial->count;
    extend_span(stage, initial->at[initial->count - 1].span);
}

struct stage *stage_combine(struct tree *tree, struct token word, struct combiner *combiner, struct token exclusive,
                            struct item_list *initial)
{
    struct stage *stage = stage_items(tree, word, combiner->head, combiner->items);
    stage->op = combiner->op;
    stage->exclusive = token_name(tree, exclusive);
    extend_span(stage, stage->op.span);
    extend_span(stage, stage->exclusive.span);
    set_initial(stage, initial);
    return stage;
}

struct stage *stage_along(struct tree *tree, struct stage *stage, struct token axis)
{
    stage->along = token_name(tree, axis);
    extend_span(stage, stage->along.span);
    return stage;
}

struct stage *stage_body(struct stage *stage, struct stage_list *body, struct span span)
{
    stage->body = body->at;
    stage->body_count = body->count;
    extend_span(stage, span);
    return stage;
}

struct stage *stage_repeat(struct tree *tree, struct token word, struct expr *rounds, struct expr *condition,
                           struct expr *until)
{
    struct stage *stage = stage_new(tree, word);
    stage->rounds = rounds;
    stage->condition = condition;
    stage->until = until;
    return stage;
}

struct stage *stage_prefix(struct tree *tree, struct stage *stage, struct token name)
{
    stage->prefix = token_name(tree, name);
    return stage;
}

struct stage *stage_loop(struct stage *stage, struct pipeline *pipeline, struct span span)
{
    stage->loop = pipeline;
    extend_span(stage, span);
    return stage;
}

struct stage *stage_call(struct tree *tree, struct token name, struct argument_list *arguments, struct token end)
{
    struct stage *stage = arena_alloc(tree->arena, sizeof *stage);
    stage->word = &word_of_call;
    stage->called = token_name(tree, name);
    stage->word_span = stage->called.span;
    stage->span = span_join(stage->word_span, token_span(tree, end));
    stage->arguments = arguments ? arguments->at : NULL;
    stage->argument_count = arguments ? arguments->count : 0;
    return stage;
}

struct stage_argument *argument_new(struct tree *tree, struct expr *expr, struct source_node *source)
{
    struct stage_argument *argument = arena_alloc(tree->arena, sizeof *argument);
    argument->expr = expr;
    argument->source = source;
    argument->span = expr ? expr->span : source->span;
    return argument;
}

struct stage *stage_aggregates(struct stage *stage, struct item_list *aggregates)
{
    stage->aggregates = aggregates->at;
    stage->aggregate_count = aggregates->count;
    extend_span(stage, aggregates->at[aggregates->count - 1].span);
    return stage;
}

struct stage *stage_across(struct stage *stage, struct item *column, struct expr *values)
{
    stage->across = column->expr;
    stage->values = values;
    extend_span(stage, values ? values->span : column->span);
    return stage;
}

struct stage *stage_rollup(struct tree *tree, struct stage *stage, struct token word)
{
    stage->rollup = token_span(tree, word);
    stage->cube = strcmp(word.word->canonical, "cube") == 0;
    extend_span(stage, stage->rollup);
    return stage;
}

struct item *axis_new(struct tree *tree, const struct item_list *extents)
{
    const struct item *first = &extents->at[0], *last = &extents->at[extents->count - 1];
    struct item *axis = item_new(tree, last->expr, (struct token){0});
    if (extents->count == 1)
        return axis;
    axis->span = span_join(first->span, last->span);
    axis->name = first->expr->name;
    if (tree->failed || (extents->count == 2 && first->expr->kind == EXPR_NAME && *axis->name.text != '$'))
        return axis;
    tree->failed = true;
    diag_error(tree->diags, axis->span, "an axis is a name and a size, or a size alone");
    diag_hint(tree->diags, "for example `shape i 4, j 3, k 2`, or `shape 4 3 2`; computed sizes need parentheses");
    return axis;
}

struct stage *stage_stencil(struct tree *tree, struct stage *stage, struct expr_list *bounds, struct token border,
                            struct expr *otherwise)
{
    stage->bounds = bounds->at;
    stage->bound_count = bounds->count;
    stage->border = token_name(tree, border);
    stage->otherwise = otherwise;
    return stage;
}

struct stage *stage_join(struct tree *tree, struct token kind, struct token word, struct source_node *source,
                         struct item_list *keys)
{
    struct stage *stage = stage_items(tree, word, NULL, keys);
    stage->kind = token_name(tree, kind);
    if (!keys)
        extend_span(stage, source->span);
    if (stage->kind.text)
        stage->span = span_join(stage->kind.span, stage->span);
    struct name *as = source->kind == SOURCE_LOAD ? &source->paths[0].as : &source->as;
    stage->prefix = *as;
    *as = (struct name){0};
    stage->sources = source;
    stage->source_count = 1;
    return stage;
}

struct stage *stage_nearness(struct tree *tree, struct stage *stage, struct token nearness, struct expr *within)
{
    stage->nearness = token_name(tree, nearness);
    stage->within = within;
    if (stage->nearness.text)
        extend_span(stage, stage->nearness.span);
    if (within)
        extend_span(stage, within->span);
    return stage;
}

struct stage *stage_unpivot(struct tree *tree, struct stage *stage, struct token key, struct token value)
{
    stage->made[0] = token_name(tree, key);
    stage->made[1] = token_name(tree, value);
    extend_span(stage, stage->made[1].span);
    return stage;
}

struct stage *stage_unnest(struct tree *tree, struct stage *stage, struct token outer, struct token position)
{
    stage->outer = outer.end != 0;
    stage->made[0] = token_name(tree, position);
    if (position.end != 0)
        extend_span(stage, stage->made[0].span);
    return stage;
}

struct stage *stage_sample(struct tree *tree, struct token word, struct expr *count, struct expr *seed)
{
    struct stage *stage =
        stage_items(tree, word, NULL, item_list_add(tree, NULL, item_new(tree, count, (struct token){0})));
    if (seed)
        set_initial(stage, item_list_add(tree, NULL, item_new(tree, seed, (struct token){0})));
    return stage;
}

struct stage *stage_share(struct stage *stage)
{
    stage->share = true;
    return stage;
}

struct combiner *combiner_new(struct tree *tree, struct token op, struct head *head, struct item_list *items)
{
    struct combiner *combiner = arena_alloc(tree->arena, sizeof *combiner);
    combiner->op = token_name(tree, op);
    if (op.end != 0 && !combiner->op.text)
        combiner->op.text = arena_text(tree->arena, tree->source->text + op.begin, op.end - op.begin);
    combiner->head = head;
    combiner->items = items;
    return combiner;
}

struct stage *stage_top(struct tree *tree, struct token word, struct expr *most, struct head *head,
                        struct item_list *keys)
{
    struct stage *stage = stage_items(tree, word, head, keys);
    stage->most = item_new(tree, most, (struct token){0});
    extend_span(stage, most->span);
    return stage;
}

struct item *key_new(struct tree *tree, struct expr *expr, struct token order, bool descending)
{
    struct item *item = item_new(tree, expr, (struct token){0});
    item->descending = descending;
    if (order.end != 0)
        item->span = span_join(item->span, token_span(tree, order));
    return item;
}
