/* Building the syntax tree: names of values, and values of pipelines. Elements of columns; `let a = E, b = E: E` and
 * `sum(k in A..B: E)` within expressions: a name in it is linked to its definition here, so that it means the same
 * wherever the expression, or a part of it, is bound. */
#include "parser/ast_build.h"
#include "parser/parse.h"

#include <ctype.h>
#include <string.h>

struct expr *expr_index(struct tree *tree, struct token name, struct expr_list *at, struct token end)
{
    struct span span = span_join(token_span(tree, name), token_span(tree, end));
    struct expr *expr = expr_new(tree, EXPR_INDEX, span, at->at, at->count);
    const struct name path = token_name(tree, name);
    if (!name_split(&path, tree->arena, &expr->name, &expr->column))
        expr->name = path;
    return expr_nested(tree, expr);
}

struct expr *expr_element(struct tree *tree, struct expr *list, struct expr *position, struct token end)
{
    struct expr **args = arena_array(tree->arena, 2, sizeof *args);
    args[0] = list;
    args[1] = position;
    return expr_nested(tree, expr_new(tree, EXPR_ELEMENT, span_join(list->span, token_span(tree, end)), args, 2));
}

/* The end that is not written: the first element, or the last one. */
static struct expr *open_end(struct tree *tree, int64_t position, struct span span)
{
    struct expr *end = expr_new(tree, EXPR_INT, span, NULL, 0);
    end->integer = position;
    return end;
}

struct expr *expr_ends(struct tree *tree, struct expr *first, struct expr *last, struct token end)
{
    const struct span span = token_span(tree, end);
    struct expr *ends = expr_new(tree, EXPR_SLICE, span, NULL, 0);
    ends->args = arena_array(tree->arena, 3, sizeof *ends->args);
    ends->args[1] = first ? first : open_end(tree, 0, span);
    ends->args[2] = last ? last : open_end(tree, -1, span);
    return ends;
}

struct expr *expr_slice(struct tree *tree, struct expr *list, const struct expr *ends)
{
    ends->args[0] = list;
    return expr_nested(tree, expr_new(tree, EXPR_SLICE, span_join(list->span, ends->span), ends->args, 3));
}

struct expr *expr_member(struct tree *tree, struct expr *index, struct token member)
{
    index->member = token_name(tree, member);
    return index;
}

bool name_split(const struct name *path, struct arena *arena, struct name *first, struct name *rest)
{
    const struct source *source = path->span.source;
    const char *at = source && path->text ? source->text + path->span.begin : "";
    const bool quoted = *at == '`';
    const char *end = at;
    while (quoted ? end == at || (*end && *end != '`') : *end == '_' || isalnum((unsigned char)*end) || *end & 0x80)
        end++;
    const char *point = end + quoted;
    const size_t length = (size_t)(end - at - quoted);
    if (point == at || *point != '.' || strncmp(path->text, at + quoted, length) != 0 || path->text[length] != '.')
        return false;
    *first = *rest = *path;
    first->text = arena_text(arena, path->text, length);
    rest->text = path->text + length + 1;
    first->span.end = path->span.begin + (uint32_t)(point - at);
    rest->span.begin = first->span.end + 1;
    return true;
}

bool expr_of_path(const struct expr *name, struct arena *arena, struct expr *element)
{
    if (name->kind != EXPR_NAME || name->definition)
        return false;
    *element = *name;
    element->kind = EXPR_INDEX;
    return name_split(&name->name, arena, &element->name, &element->column);
}

struct expr *expr_pipeline(struct tree *tree, struct token begin, struct pipeline *pipeline, struct token end)
{
    struct source_node *source = source_pipeline(tree, begin, pipeline, end);
    struct expr *expr = expr_new(tree, EXPR_PIPELINE, source->span, NULL, 0);
    expr->source = source;
    return expr_nested(tree, expr);
}

/* Names with their definitions, of which the first `visible` ones may be used. */
struct definitions {
    const struct name *names;
    struct expr *const *at;
    size_t visible;
};

static const struct expr *find(const struct definitions *definitions, const char *name)
{
    for (size_t i = definitions->visible; i-- > 0;) {
        if (strcmp(definitions->names[i].text, name) == 0)
            return definitions->at[i];
    }
    return NULL;
}

/* Links the names in an expression that have no definition yet: inner definitions hide outer ones. */
static void link_names(struct expr *expr, const struct definitions *definitions)
{
    if ((expr->kind == EXPR_NAME || expr->kind == EXPR_INDEX) && !expr->definition)
        expr->definition = find(definitions, expr->name.text);
    for (size_t i = 0; i < expr->arg_count; i++)
        link_names(expr->args[i], definitions);
    if (expr->frame && expr->frame->first)
        link_names(expr->frame->first, definitions);
    if (expr->frame && expr->frame->last)
        link_names(expr->frame->last, definitions);
}

struct expr *expr_let(struct tree *tree, struct token word, const struct item_list *list, struct expr *body)
{
    struct expr **args = arena_array(tree->arena, list->count + 1, sizeof *args);
    struct name *names = arena_array(tree->arena, list->count, sizeof *names);
    for (size_t i = 0; i < list->count; i++) {
        args[i] = list->at[i].expr;
        names[i] = list->at[i].name;
    }
    args[list->count] = body;
    struct expr *expr = expr_new(tree, EXPR_LET, span_join(token_span(tree, word), body->span), args, list->count + 1);
    expr->names = names;
    if (list->count > LIMIT_LOCALS)
        tree_limit(tree, names[LIMIT_LOCALS].span, LIMIT_LOCALS, "names in one `let`",
                   "give columns names with `derive`");
    for (size_t i = 1; i <= list->count && !tree->failed; i++)
        link_names(args[i], &(struct definitions){names, args, i});
    return expr_nested(tree, expr);
}

/* A range links its own index, too: it is no other name's. */
struct expr *expr_fold(struct tree *tree, struct token name, struct expr_list *ranges, struct expr *body,
                       struct token end)
{
    const size_t count = ranges->count;
    struct name *names = arena_array(tree->arena, count, sizeof *names);
    struct span span = span_join(token_span(tree, name), token_span(tree, end));
    ranges = expr_list_add(tree, ranges, body);
    for (size_t i = 0; i < count; i++) {
        const struct expr *range = ranges->at[i];
        const bool is_index = range->kind == EXPR_IN_RANGE && range->args[0]->kind == EXPR_NAME;
        names[i] = is_index ? range->args[0]->name : (struct name){.text = ""};
        if (is_index)
            range->args[0]->definition = range;
        link_names(ranges->at[i + 1], &(struct definitions){names, ranges->at, i + 1});
    }
    struct expr *expr = expr_new(tree, EXPR_FOLD, span, ranges->at, count + 1);
    expr->name = token_name(tree, name);
    return expr_nested(tree, expr);
}
