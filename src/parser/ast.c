#include "parser/ast_build.h"

#include <string.h>

#include "parser/literal.h"
#include "parser/parse.h"

void *list_reserve(struct tree *tree, void *at, size_t count, size_t size)
{
    enum { FIRST_CAPACITY = 2 };

    if (count == 0)
        return arena_array(tree->arena, FIRST_CAPACITY, size);
    if (count < FIRST_CAPACITY || (count & (count - 1)) != 0)
        return at;
    return arena_grow(tree->arena, at, count, count * 2, size);
}

struct span token_span(const struct tree *tree, struct token token)
{
    return (struct span){tree->source, token.begin, token.end};
}

struct name token_name(const struct tree *tree, struct token token)
{
    if (token.end == 0)
        return (struct name){0};
    return (struct name){token.value.text, token_span(tree, token)};
}

/* NAME_add: appends to a list, which is created if NULL. */
#define DEFINE_ADD(name, parameter, value)                                                                             \
    struct name *name##_add(struct tree *tree, struct name *list, parameter)                                           \
    {                                                                                                                  \
        if (!list)                                                                                                     \
            list = arena_alloc(tree->arena, sizeof *list);                                                             \
        list->at = list_reserve(tree, list->at, list->count, sizeof *list->at);                                        \
        list->at[list->count++] = value;                                                                               \
        return list;                                                                                                   \
    }
DEFINE_ADD(expr_list, struct expr *expr, expr)
DEFINE_ADD(item_list, const struct item *item, *item)
DEFINE_ADD(path_list, const struct path_item *path, *path)
DEFINE_ADD(source_list, const struct source_node *source, *source)
DEFINE_ADD(stage_list, const struct stage *stage, *stage)
DEFINE_ADD(argument_list, const struct stage_argument *argument, *argument)
DEFINE_ADD(name_list, struct token name, token_name(tree, name))
#undef DEFINE_ADD

void tree_limit(struct tree *tree, struct span span, int max, const char *what, const char *hint)
{
    if (tree->failed)
        return;
    tree->failed = true;
    diag_error(tree->diags, span, "too many %s: the limit is %d", what, max);
    diag_hint(tree->diags, "%s", hint);
}

void tree_too_deep(struct tree *tree, struct span span)
{
    tree_limit(tree, span, LIMIT_NESTING, "nested brackets, unary operators and `?:`",
               "name a part of it with `let`, `derive` or `def`");
}

struct expr *expr_new(struct tree *tree, enum expr_kind kind, struct span span, struct expr **args, size_t arg_count)
{
    struct expr *expr = arena_alloc(tree->arena, sizeof *expr);
    expr->kind = kind;
    expr->span = span;
    expr->args = args;
    expr->arg_count = arg_count;
    for (size_t i = 0; i < arg_count; i++) {
        if (expr->depth < args[i]->depth)
            expr->depth = args[i]->depth;
        if (expr->nesting < args[i]->nesting)
            expr->nesting = args[i]->nesting;
    }
    expr->depth++;
    if (expr->depth > LIMIT_DEPTH)
        tree_limit(tree, span, LIMIT_DEPTH, "operators in a row", "split the expression with `derive`");
    if (++tree->terms > LIMIT_TERMS)
        tree_limit(tree, span, LIMIT_TERMS, "operands and operators in one statement",
                   "put the values into a file and `load` it");
    return expr;
}

struct expr *expr_nested(struct tree *tree, struct expr *expr)
{
    if (++expr->nesting > LIMIT_NESTING)
        tree_too_deep(tree, expr->span);
    return expr;
}

static struct expr **args_of(struct tree *tree, struct expr *a, struct expr *b, struct expr *c)
{
    const size_t count = c ? 3 : b ? 2 : 1;
    struct expr **args = arena_array(tree->arena, count, sizeof *args);
    args[0] = a;
    if (b)
        args[1] = b;
    if (c)
        args[2] = c;
    return args;
}

struct expr *expr_int(struct tree *tree, struct token token)
{
    struct expr *expr = expr_new(tree, EXPR_INT, token_span(tree, token), NULL, 0);
    expr->integer = token.value.integer;
    return expr;
}

struct expr *expr_int_min(struct tree *tree, struct token minus, struct token token)
{
    struct expr *expr = expr_int(tree, token);
    expr->span = span_join(token_span(tree, minus), expr->span);
    return expr;
}

struct expr *expr_float(struct tree *tree, struct token token)
{
    struct expr *expr = expr_new(tree, EXPR_FLOAT, token_span(tree, token), NULL, 0);
    expr->number = token.value.number;
    expr->decimal =
        literal_decimal(tree->source->text + token.begin, token.end - token.begin, &expr->integer, &expr->scale);
    return expr;
}

struct expr *expr_quoted(struct tree *tree, struct token token)
{
    struct expr *expr = expr_new(tree, EXPR_TEXT, token_span(tree, token), NULL, 0);
    expr->text = token.value.text;
    expr->length = token.length;
    return expr;
}

struct expr *expr_time(struct tree *tree, enum expr_kind kind, struct token token)
{
    struct expr *expr = expr_new(tree, kind, token_span(tree, token), NULL, 0);
    expr->integer = token.value.integer;
    expr->utc = token.utc;
    return expr;
}

struct expr *expr_bool(struct tree *tree, struct token token, bool value)
{
    struct expr *expr = expr_new(tree, EXPR_BOOL, token_span(tree, token), NULL, 0);
    expr->integer = value;
    return expr;
}

struct expr *expr_missing(struct tree *tree, struct token token)
{
    return expr_new(tree, EXPR_MISSING, token_span(tree, token), NULL, 0);
}

struct expr *expr_name(struct tree *tree, const struct name *name)
{
    struct expr *expr = expr_new(tree, EXPR_NAME, name->span, NULL, 0);
    expr->name = *name;
    return expr;
}

struct expr *expr_position(struct tree *tree, struct token token)
{
    struct expr *expr = expr_new(tree, EXPR_POSITION, token_span(tree, token), NULL, 0);
    expr->integer = token.value.integer;
    return expr;
}

struct expr *expr_unary(struct tree *tree, struct token op, enum unary_op kind, struct expr *a)
{
    struct span op_span = token_span(tree, op);
    struct expr *expr = expr_new(tree, EXPR_UNARY, span_join(op_span, a->span), args_of(tree, a, NULL, NULL), 1);
    expr->op.unary = kind;
    expr->op_span = op_span;
    return expr_nested(tree, expr);
}

struct expr *expr_binary(struct tree *tree, struct expr *a, struct token op, enum binary_op kind, struct expr *b)
{
    struct expr *expr = expr_new(tree, EXPR_BINARY, span_join(a->span, b->span), args_of(tree, a, b, NULL), 2);
    expr->op.binary = kind;
    expr->op_span = token_span(tree, op);
    return expr;
}

struct expr *expr_ternary(struct tree *tree, struct expr *a, struct token op, struct expr *b, struct expr *c)
{
    struct expr *expr = expr_new(tree, EXPR_TERNARY, span_join(a->span, c->span), args_of(tree, a, b, c), 3);
    expr->op_span = token_span(tree, op);
    return expr_nested(tree, expr);
}

struct expr *expr_call(struct tree *tree, struct token name, struct expr_list *args, struct token end)
{
    struct span span = span_join(token_span(tree, name), token_span(tree, end));
    struct expr *expr = expr_new(tree, EXPR_CALL, span, args ? args->at : NULL, args ? args->count : 0);
    expr->name = token_name(tree, name);
    return expr_nested(tree, expr);
}

struct window_frame *frame_new(struct tree *tree, struct expr *first, struct token dots, struct expr *last,
                               struct token of)
{
    struct window_frame *frame = arena_alloc(tree->arena, sizeof *frame);
    frame->first = first;
    frame->last = last;
    frame->of = token_name(tree, of);
    frame->span = token_span(tree, dots);
    if (first)
        frame->span = span_join(first->span, frame->span);
    if (last)
        frame->span = span_join(frame->span, last->span);
    frame->span = span_join(frame->span, frame->of.span);
    return frame;
}

struct expr *expr_over(struct tree *tree, struct expr *call, const struct window_frame *frame)
{
    struct span span = span_join(call->span, frame->span);
    struct expr *expr = expr_new(tree, EXPR_OVER, span, args_of(tree, call, NULL, NULL), 1);
    expr->frame = frame;
    return expr_nested(tree, expr);
}

struct expr *expr_in_range(struct tree *tree, struct expr *a, struct token op, struct expr *from, struct expr *to)
{
    struct expr *expr = expr_new(tree, EXPR_IN_RANGE, span_join(a->span, to->span), args_of(tree, a, from, to), 3);
    expr->op_span = token_span(tree, op);
    return expr;
}

struct expr *expr_in_list(struct tree *tree, struct expr *a, struct token op, struct expr_list *list, struct token end)
{
    const size_t count = list ? list->count : 0;
    struct expr **args = arena_array(tree->arena, count + 1, sizeof *args);
    args[0] = a;
    for (size_t i = 0; i < count; i++)
        args[i + 1] = list->at[i];
    struct expr *expr = expr_new(tree, EXPR_IN_LIST, span_join(a->span, token_span(tree, end)), args, count + 1);
    expr->op_span = token_span(tree, op);
    return expr_nested(tree, expr);
}

static struct expr *expr_in_source(struct tree *tree, struct expr *a, struct token op, struct source_node *source)
{
    struct expr *expr =
        expr_new(tree, EXPR_IN_SOURCE, span_join(a->span, source->span), args_of(tree, a, NULL, NULL), 1);
    expr->source = source;
    expr->op_span = token_span(tree, op);
    return expr_nested(tree, expr);
}

/* `t in "Europe/Berlin" >= d`, which the grammar reads as `t in ("Europe/Berlin" >= d)`, compares what is in the zone:
 * nothing is in the result of an operator on a text. Returns the operation whose first operand is that text, or NULL.
 */
static struct expr *operation_on_text(struct expr *expr)
{
    struct expr *last = NULL;
    for (; expr->kind == EXPR_BINARY && expr->span.begin == expr->args[0]->span.begin; expr = expr->args[0])
        last = expr;
    return expr->kind == EXPR_TEXT ? last : NULL;
}

struct expr *expr_in_named(struct tree *tree, struct expr *a, struct token op, struct expr *b)
{
    struct expr element;
    if (b->kind == EXPR_NAME && !expr_of_path(b, tree->arena, &element))
        return expr_in_source(tree, a, op, source_name(tree, &b->name));
    struct expr *last = operation_on_text(b), *of = last ? last->args[0] : b;
    struct expr *expr = expr_new(tree, EXPR_IN_SOURCE, span_join(a->span, of->span), args_of(tree, a, of, NULL), 2);
    expr->op_span = token_span(tree, op);
    if (!last)
        return expr;
    for (struct expr *outer = b; outer != of; outer = outer->args[0])
        outer->span = span_join(a->span, outer->span);
    last->args[0] = expr;
    return b;
}

struct expr *expr_in_pipeline(struct tree *tree, struct expr *a, struct token op, struct token begin,
                              struct pipeline *pipeline, struct token end)
{
    return expr_in_source(tree, a, op, source_pipeline(tree, begin, pipeline, end));
}

struct expr *expr_negated(struct tree *tree, struct token op, struct expr *positive)
{
    struct expr *expr = expr_new(tree, EXPR_UNARY, positive->span, args_of(tree, positive, NULL, NULL), 1);
    expr->op.unary = UNARY_NOT;
    expr->op_span = token_span(tree, op);
    return expr_nested(tree, expr);
}

struct expr *expr_binary_not(struct tree *tree, struct expr *a, struct token first, struct token last,
                             enum binary_op kind, struct expr *b)
{
    struct token op = first;
    op.end = last.end;
    return expr_negated(tree, op, expr_binary(tree, a, op, kind, b));
}

struct expr *expr_paren(struct tree *tree, struct token begin, struct expr *expr, struct token end)
{
    expr->span = span_join(token_span(tree, begin), token_span(tree, end));
    return expr_nested(tree, expr);
}

struct name *name_new(struct tree *tree, struct token token)
{
    struct name *name = arena_alloc(tree->arena, sizeof *name);
    *name = token_name(tree, token);
    return name;
}

struct name *name_paren(struct tree *tree, struct token begin, struct name *name, struct token end)
{
    name->span = span_join(token_span(tree, begin), token_span(tree, end));
    return name;
}

struct item *item_new(struct tree *tree, struct expr *expr, struct token name)
{
    struct item *item = arena_alloc(tree->arena, sizeof *item);
    item->expr = expr;
    item->name = token_name(tree, name);
    item->span = span_join(expr->span, item->name.span);
    return item;
}

struct item *item_named(struct tree *tree, struct item *item, struct token name)
{
    item->name = token_name(tree, name);
    item->span = span_join(item->span, item->name.span);
    return item;
}

struct item *item_compared(struct tree *tree, struct item *item, enum binary_op compared, struct token name)
{
    item->compared = compared;
    return item_named(tree, item, name);
}

struct head *head_new(struct tree *tree, struct token begin, struct name_list *names, struct token end)
{
    struct head *head = arena_alloc(tree->arena, sizeof *head);
    head->names = names->at;
    head->count = names->count;
    head->span = span_join(token_span(tree, begin), token_span(tree, end));
    return head;
}

static struct source_node *source_new(struct tree *tree, enum source_kind kind, struct span span)
{
    struct source_node *source = arena_alloc(tree->arena, sizeof *source);
    source->kind = kind;
    source->span = span;
    return source;
}

struct source_node *source_load(struct tree *tree, struct token word, struct path_list *paths)
{
    struct span span = span_join(token_span(tree, word), paths->at[paths->count - 1].span);
    struct source_node *source = source_new(tree, SOURCE_LOAD, span);
    source->paths = paths->at;
    source->path_count = paths->count;
    return source;
}

struct source_node *source_path(struct tree *tree, struct path_item *path)
{
    struct source_node *source = source_new(tree, SOURCE_LOAD, path->span);
    source->paths = path;
    source->path_count = 1;
    return source;
}

struct source_node *source_range(struct tree *tree, struct token word, struct expr *from, struct expr *to,
                                 struct expr *by)
{
    struct span span = span_join(token_span(tree, word), by ? by->span : to->span);
    struct source_node *source = source_new(tree, SOURCE_RANGE, span);
    source->from = from;
    source->to = to;
    source->by = by;
    return source;
}

struct source_node *source_literal(struct tree *tree, struct token begin, struct expr_list *items, struct token end)
{
    struct span span = span_join(token_span(tree, begin), token_span(tree, end));
    struct source_node *source = source_new(tree, SOURCE_LITERAL, span);
    source->items = items ? items->at : NULL;
    source->item_count = items ? items->count : 0;
    return source;
}

struct source_node *source_name(struct tree *tree, struct name *name)
{
    struct source_node *source = source_new(tree, SOURCE_NAME, name->span);
    source->name = *name;
    return source;
}

struct source_node *source_pipeline(struct tree *tree, struct token begin, struct pipeline *pipeline, struct token end)
{
    struct span span = span_join(token_span(tree, begin), token_span(tree, end));
    struct source_node *source = source_new(tree, SOURCE_PIPELINE, span);
    source->pipeline = pipeline;
    return source;
}

struct source_node *source_last(struct tree *tree, struct token token)
{
    return source_new(tree, SOURCE_LAST, token_span(tree, token));
}

struct source_node *source_as(struct tree *tree, struct source_node *source, struct token name)
{
    source->as = token_name(tree, name);
    source->span = span_join(source->span, source->as.span);
    return source;
}

struct pipeline *pipeline_new(struct tree *tree, struct source_node *source)
{
    struct pipeline *pipeline = arena_alloc(tree->arena, sizeof *pipeline);
    pipeline->source = *source;
    pipeline->span = source->span;
    return pipeline;
}

struct pipeline *pipeline_add(struct tree *tree, struct pipeline *pipeline, struct stage *stage)
{
    if (pipeline->stage_count >= LIMIT_STAGES) {
        tree_limit(tree, stage->span, LIMIT_STAGES, "stages in one pipeline",
                   "save or name an intermediate result and continue from it");
        return pipeline;
    }
    pipeline->stages = list_reserve(tree, pipeline->stages, pipeline->stage_count, sizeof *pipeline->stages);
    pipeline->stages[pipeline->stage_count++] = *stage;
    pipeline->span = span_join(pipeline->span, stage->span);
    return pipeline;
}

const char *name_argument(const struct name *name)
{
    const struct source *source = name->span.source;
    if (!name->text || name->text[0] != '$' || !source)
        return NULL;
    uint32_t at = name->span.begin;
    while (at < name->span.end && strchr("( \t\r\n", source->text[at]))
        at++;
    return source->text[at] == '$' ? name->text + 1 : NULL;
}
