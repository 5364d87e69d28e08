/* Syntax trees as text: prefix notation for expressions, sources in braces. Every function is static
 * inline because a test program is one source file. */
#ifndef RQL_TESTS_TREE_TEXT_H
#define RQL_TESTS_TREE_TEXT_H

#include "base/strbuf.h"
#include "parser/ast.h"

#include <inttypes.h>

static inline void add_pipeline(struct strbuf *out, const struct pipeline *pipeline);

static inline void add_args(struct strbuf *out, const struct expr *expr, size_t first);

/* 7, 0.5, "text", date:19753, x, $1, (+ 1 (* 2 3)), (neg x), (f a b), (in x 1 9), (in x [1 2]), (at t 0) */
static inline void add_expr(struct strbuf *out, const struct expr *expr)
{
    static const char *const unary[] = {[UNARY_NEG] = "neg", [UNARY_NOT] = "!", [UNARY_BITNOT] = "~"};
    static const char *const binary[] = {
        [BINARY_OR] = "||",     [BINARY_AND] = "&&",   [BINARY_EQ] = "==",       [BINARY_NE] = "!=",
        [BINARY_LT] = "<",      [BINARY_LE] = "<=",    [BINARY_GT] = ">",        [BINARY_GE] = ">=",
        [BINARY_BITOR] = "|",   [BINARY_BITAND] = "&", [BINARY_XOR] = "^",       [BINARY_SHL] = "<<",
        [BINARY_SHR] = ">>",    [BINARY_ADD] = "+",    [BINARY_SUB] = "-",       [BINARY_MUL] = "*",
        [BINARY_DIV] = "/",     [BINARY_MOD] = "%",    [BINARY_COALESCE] = "??", [BINARY_IS] = "is",
        [BINARY_LIKE] = "like", [BINARY_MATCH] = "=~", [BINARY_INT_DIV] = "//",  [BINARY_DIV_OR_MISSING] = "/?",
    };

    switch (expr->kind) {
    case EXPR_INT:
        strbuf_printf(out, "%" PRId64, expr->integer);
        return;
    case EXPR_FLOAT:
        strbuf_printf(out, "%#.15g", expr->number);
        while (out->text[out->length - 1] == '0')
            out->text[--out->length] = '\0';
        return;
    case EXPR_TEXT:
        strbuf_putc(out, '"');
        strbuf_add_visible(out, expr->text, expr->length);
        strbuf_putc(out, '"');
        return;
    case EXPR_DATE:
        strbuf_printf(out, "date:%" PRId64, expr->integer);
        return;
    case EXPR_TIMESTAMP:
        strbuf_printf(out, "%s:%" PRId64, expr->utc ? "utc" : "time", expr->integer);
        return;
    case EXPR_DURATION:
        strbuf_printf(out, "us:%" PRId64, expr->integer);
        return;
    case EXPR_MONTHS:
        strbuf_printf(out, "months:%" PRId64, expr->integer);
        return;
    case EXPR_BOOL:
        strbuf_puts(out, expr->integer ? "true" : "false");
        return;
    case EXPR_MISSING:
        strbuf_puts(out, "missing");
        return;
    case EXPR_NAME:
        strbuf_puts(out, expr->name.text);
        return;
    case EXPR_POSITION:
        strbuf_printf(out, "$%" PRId64, expr->integer);
        return;
    case EXPR_UNARY:
        strbuf_printf(out, "(%s", unary[expr->op.unary]);
        break;
    case EXPR_BINARY:
        strbuf_printf(out, "(%s", binary[expr->op.binary]);
        break;
    case EXPR_TERNARY:
        strbuf_puts(out, "(?");
        break;
    case EXPR_CALL:
        strbuf_printf(out, "(%s", expr->name.text);
        break;
    case EXPR_FOLD:
        strbuf_printf(out, "(fold %s", expr->name.text);
        add_args(out, expr, 0);
        strbuf_puts(out, ")");
        return;
    case EXPR_IN_RANGE:
        strbuf_puts(out, "(in");
        break;
    case EXPR_IN_LIST:
        strbuf_puts(out, "(in ");
        add_expr(out, expr->args[0]);
        strbuf_puts(out, " [");
        for (size_t i = 1; i < expr->arg_count; i++) {
            strbuf_puts(out, i > 1 ? " " : "");
            add_expr(out, expr->args[i]);
        }
        strbuf_puts(out, "])");
        return;
    case EXPR_IN_SOURCE:
        strbuf_printf(out, "(in:%s",
                      expr->source == NULL      ? "?"
                      : expr->source->name.text ? expr->source->name.text
                                                : "()");
        break;
    case EXPR_OVER:
        strbuf_puts(out, "(over");
        break;
    case EXPR_PIPELINE:
        strbuf_puts(out, "(value)");
        return;
    case EXPR_SET:
        strbuf_printf(out, "(set %.*s)", (int)(expr->span.end - expr->span.begin),
                      expr->span.source->text + expr->span.begin);
        return;
    case EXPR_LET:
        strbuf_puts(out, "(let");
        for (size_t i = 0; i + 1 < expr->arg_count; i++)
            strbuf_printf(out, " %s", expr->names[i].text);
        break;
    case EXPR_INDEX:
        strbuf_printf(out, "(at %s", expr->name.text);
        if (expr->column.text)
            strbuf_printf(out, ".%s", expr->column.text);
        break;
    case EXPR_ELEMENT:
        strbuf_puts(out, "(element");
        break;
    case EXPR_SLICE:
        strbuf_puts(out, "(slice");
        break;
    }
    add_args(out, expr, 0);
    strbuf_putc(out, ')');
}

static inline void add_args(struct strbuf *out, const struct expr *expr, size_t first)
{
    for (size_t i = first; i < expr->arg_count; i++) {
        strbuf_putc(out, ' ');
        add_expr(out, expr->args[i]);
    }
}

/* " as x", or nothing. */
static inline void add_as(struct strbuf *out, struct name name)
{
    if (name.text)
        strbuf_printf(out, " as %s", name.text);
}

static inline void add_names(struct strbuf *out, const struct name *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        strbuf_printf(out, "%s%s", i ? "," : "", names[i].text);
}

/* " csv (price decimal 2) (id text) missing "x" "y"", or nothing */
static inline void add_file_clauses(struct strbuf *out, const struct path_item *file)
{
    if (file->format.text)
        strbuf_printf(out, " %s", file->format.text);
    for (size_t i = 0; i < file->stated_count; i++) {
        const struct stated_column *column = &file->stated[i];
        strbuf_printf(out, " (%s %s", column->name.text, column->type.text);
        if (column->argument)
            strbuf_printf(out, " %" PRId64, column->argument->integer);
        strbuf_putc(out, ')');
    }
    for (size_t i = 0; i < file->missing_count; i++)
        strbuf_printf(out, "%s \"%s\"", i ? "" : " missing", file->missing[i].text);
}

/* {load a.bin as x i32, b.bin} {range 1 9 2} {[1 2]} {x} {(PIPELINE)} {last}, each followed by its name */
static inline void add_source(struct strbuf *out, const struct source_node *source)
{
    strbuf_putc(out, '{');
    switch (source->kind) {
    case SOURCE_LOAD:
        strbuf_puts(out, "load");
        for (size_t i = 0; i < source->path_count; i++) {
            strbuf_printf(out, "%s %s", i ? "," : "", source->paths[i].path.text);
            add_as(out, source->paths[i].as);
            add_file_clauses(out, &source->paths[i]);
        }
        break;
    case SOURCE_RANGE:
        strbuf_puts(out, "range ");
        add_expr(out, source->from);
        strbuf_putc(out, ' ');
        add_expr(out, source->to);
        if (source->by) {
            strbuf_putc(out, ' ');
            add_expr(out, source->by);
        }
        break;
    case SOURCE_LITERAL:
        strbuf_putc(out, '[');
        for (size_t i = 0; i < source->item_count; i++) {
            strbuf_puts(out, i ? " " : "");
            add_expr(out, source->items[i]);
        }
        strbuf_putc(out, ']');
        break;
    case SOURCE_NAME:
        strbuf_puts(out, source->name.text);
        break;
    case SOURCE_PIPELINE:
        strbuf_putc(out, '(');
        add_pipeline(out, source->pipeline);
        strbuf_putc(out, ')');
        break;
    case SOURCE_LAST:
        strbuf_puts(out, "last");
        break;
    }
    add_as(out, source->as);
    strbuf_putc(out, '}');
}

/* " from 3", or nothing. */
static inline void add_clause(struct strbuf *out, const char *word, const struct expr *expr)
{
    if (expr) {
        strbuf_printf(out, " %s ", word);
        add_expr(out, expr);
    }
}

static inline void add_items(struct strbuf *out, const struct item *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        strbuf_puts(out, i ? ", " : " ");
        add_expr(out, items[i].expr);
        add_as(out, items[i].name);
        strbuf_puts(out, items[i].descending ? " desc" : "");
    }
}

/* select |a,b| (== a 1); map x as y, z; zip {x}, {y}; save out.bin; scan + exclusive from 1 along rows;
 * group x: (sum y); stencil (neg 1)..1 else 0: (at 1); scatter {x} into 5 */
static inline void add_stage(struct strbuf *out, const struct stage *stage)
{
    strbuf_puts(out, stage->word->text);
    if (stage->head) {
        strbuf_puts(out, " |");
        add_names(out, stage->head->names, stage->head->count);
        strbuf_putc(out, '|');
    }
    for (size_t i = 0; i < stage->bound_count; i++) {
        strbuf_puts(out, i % 2 ? ".." : i ? ", " : " ");
        add_expr(out, stage->bounds[i]);
    }
    add_clause(out, "else", stage->otherwise);
    strbuf_puts(out, stage->otherwise ? ":" : "");
    if (stage->op.text)
        strbuf_printf(out, " %s", stage->op.text);
    add_items(out, stage->items, stage->item_count);
    strbuf_puts(out, stage->aggregate_count ? ":" : "");
    add_items(out, stage->aggregates, stage->aggregate_count);
    for (size_t i = 0; i < stage->source_count; i++) {
        strbuf_puts(out, i ? ", " : " ");
        add_source(out, &stage->sources[i]);
    }
    strbuf_puts(out, stage->exclusive.text ? " exclusive" : "");
    strbuf_puts(out, stage->initial_count ? " from" : "");
    add_items(out, stage->initial, stage->initial_count);
    add_clause(out, "into", stage->into);
    if (stage->along.text)
        strbuf_printf(out, " along %s", stage->along.text);
    if (stage->path.text)
        strbuf_printf(out, " %s", stage->path.text);
}

static inline void add_pipeline(struct strbuf *out, const struct pipeline *pipeline)
{
    add_source(out, &pipeline->source);
    for (size_t i = 0; i < pipeline->stage_count; i++) {
        strbuf_puts(out, " | ");
        add_stage(out, &pipeline->stages[i]);
    }
}

static inline void add_statement(struct strbuf *out, const struct stmt *stmt)
{
    switch (stmt->kind) {
    case STMT_LET:
        strbuf_printf(out, "let %s = ", stmt->name.text);
        break;
    case STMT_DEF:
        strbuf_printf(out, "def %s(", stmt->name.text);
        add_names(out, stmt->params, stmt->param_count);
        strbuf_puts(out, ") = ");
        break;
    case STMT_EXPLAIN:
        strbuf_printf(out, "explain %s%s", stmt->variant.text ? stmt->variant.text : "", stmt->variant.text ? " " : "");
        if (stmt->dialect.text)
            strbuf_printf(out, "--dialect=%s ", stmt->dialect.text);
        break;
    case STMT_ASSERT:
        strbuf_puts(out, "assert ");
        break;
    case STMT_RACE:
        strbuf_puts(out, "race ");
        break;
    case STMT_COMMAND:
        strbuf_puts(out, stmt->command.text);
        break;
    case STMT_PIPELINE:
    case STMT_EXPR:
        break;
    }
    if (stmt->pipeline)
        add_pipeline(out, stmt->pipeline);
    if (stmt->expr)
        add_expr(out, stmt->expr);
}

/* All statements, "; " between them. */
static inline void add_statements(struct strbuf *out, const struct stmt *first)
{
    for (const struct stmt *stmt = first; stmt; stmt = stmt->next) {
        add_statement(out, stmt);
        strbuf_puts(out, stmt->next ? "; " : "");
    }
}

#endif
