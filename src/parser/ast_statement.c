/* Building the syntax tree: statements. */
#include "parser/ast_build.h"

static struct stmt *stmt_new(struct tree *tree, enum stmt_kind kind, struct span begin, struct pipeline *pipeline,
                             struct expr *expr)
{
    struct stmt *stmt = arena_alloc(tree->arena, sizeof *stmt);
    stmt->kind = kind;
    stmt->pipeline = pipeline;
    stmt->expr = expr;
    stmt->span = begin;
    if (pipeline)
        stmt->span = span_join(begin, pipeline->span);
    else if (expr)
        stmt->span = span_join(begin, expr->span);
    tree->stmt = stmt;
    return stmt;
}

void stmt_query(struct tree *tree, struct pipeline *pipeline, struct expr *expr)
{
    stmt_new(tree, pipeline ? STMT_PIPELINE : STMT_EXPR, (struct span){0}, pipeline, expr);
}

void stmt_let(struct tree *tree, struct token word, struct token name, struct pipeline *pipeline, struct expr *expr)
{
    struct stmt *stmt = stmt_new(tree, STMT_LET, token_span(tree, word), pipeline, expr);
    stmt->name = token_name(tree, name);
}

void stmt_def(struct tree *tree, struct token word, struct token name, struct name_list *params, struct expr *expr)
{
    struct stmt *stmt = stmt_new(tree, STMT_DEF, token_span(tree, word), NULL, expr);
    stmt->name = token_name(tree, name);
    stmt->params = params ? params->at : NULL;
    stmt->param_count = params ? params->count : 0;
}

void stmt_def_stages(struct tree *tree, struct token word, struct token name, struct name_list *params,
                     struct stage_list *stages)
{
    stmt_def(tree, word, name, params, NULL);
    tree->stmt->stages = stages->at;
    tree->stmt->stage_count = stages->count;
    tree->stmt->span = span_join(tree->stmt->span, stages->at[stages->count - 1].span);
}

void stmt_assert(struct tree *tree, struct token word, struct expr *expr)
{
    stmt_new(tree, STMT_ASSERT, token_span(tree, word), NULL, expr);
}

void stmt_explain(struct tree *tree, struct token word, struct token variant, struct pipeline *pipeline)
{
    struct stmt *stmt = stmt_new(tree, STMT_EXPLAIN, token_span(tree, word), pipeline, NULL);
    stmt->variant = token_name(tree, variant);
}

void stmt_dialect(struct tree *tree, struct token dialect)
{
    const struct span whole = token_span(tree, dialect);
    const char *text = tree->source->text + whole.begin;
    const size_t length = whole.end - whole.begin;
    size_t begin = length;
    while (begin > 0 && text[begin - 1] != ' ' && text[begin - 1] != '\t')
        begin--;
    tree->stmt->dialect.text = arena_text(tree->arena, text + begin, length - begin);
    tree->stmt->dialect.span = (struct span){whole.source, whole.begin + (uint32_t)begin, whole.end};
}

void stmt_race(struct tree *tree, struct token word, struct pipeline *pipeline)
{
    (void)stmt_new(tree, STMT_RACE, token_span(tree, word), pipeline, NULL);
}

void stmt_command(struct tree *tree, struct token command)
{
    struct stmt *stmt = stmt_new(tree, STMT_COMMAND, token_span(tree, command), NULL, NULL);
    stmt->command = token_name(tree, command);
}
