/* Files, and what a `load` states about them. */
#include "parser/ast_build.h"

#include <string.h>

struct path_item *path_new(struct tree *tree, struct token path, struct token as, struct token format)
{
    struct path_item *item = arena_alloc(tree->arena, sizeof *item);
    item->path = token_name(tree, path);
    item->as = token_name(tree, as);
    item->format = token_name(tree, format);
    item->span = span_join(span_join(item->path.span, item->as.span), item->format.span);
    return item;
}

struct path_item *path_state(struct tree *tree, struct path_item *file, const struct stated_column *column)
{
    file->stated = list_reserve(tree, file->stated, file->stated_count, sizeof *file->stated);
    file->stated[file->stated_count++] = *column;
    file->span = span_join(file->span, column->span);
    return file;
}

struct path_item *path_missing(struct tree *tree, struct path_item *file, struct token text)
{
    if (memchr(text.value.text, 0, text.length)) {
        diag_error(tree->diags, token_span(tree, text), "a word for missing values cannot contain a NUL");
        tree->failed = true;
    }
    file->missing = list_reserve(tree, file->missing, file->missing_count, sizeof *file->missing);
    file->missing[file->missing_count++] = token_name(tree, text);
    file->span = span_join(file->span, token_span(tree, text));
    return file;
}

struct path_list *path_list_state(struct tree *tree, struct path_list *list, const struct stated_column *column)
{
    path_state(tree, &list->at[list->count - 1], column);
    return list;
}

struct path_list *path_list_missing(struct tree *tree, struct path_list *list, struct token text)
{
    path_missing(tree, &list->at[list->count - 1], text);
    return list;
}

struct stated_column *stated_new(struct tree *tree, struct token name, struct token type, struct token argument,
                                 struct token end)
{
    struct stated_column *column = arena_alloc(tree->arena, sizeof *column);
    column->name = token_name(tree, name);
    column->type = token_name(tree, type);
    column->span = span_join(column->name.span, column->type.span);
    if (end.end != 0) {
        column->argument = expr_int(tree, argument);
        column->span = span_join(column->span, token_span(tree, end));
    }
    return column;
}

struct path_clause *clause_new(struct tree *tree, struct token word, struct token value)
{
    const struct source *source = tree->source;
    struct path_clause *clause = arena_alloc(tree->arena, sizeof *clause);
    clause->kind = clause_find(source->text + word.begin, word.end - word.begin);
    clause->span = token_span(tree, word);
    /* Tokens that the automaton tries have no text: their tree is dropped. */
    const enum clause_form form = clause->kind == CLAUSE_KINDS ? FORM_NONE : clause_table[clause->kind].form;
    if (form == FORM_NONE)
        return clause;
    clause->span = span_join(clause->span, token_span(tree, value));
    if (form == FORM_INTEGER)
        clause->integer = value.value.integer;
    else
        clause->text = value.value.text;
    if (form == FORM_TEXT && memchr(clause->text, 0, value.length)) {
        diag_error(tree->diags, token_span(tree, value), "a clause cannot contain a NUL");
        tree->failed = true;
    }
    return clause;
}

struct path_list *path_list_clause(struct tree *tree, struct path_list *list, const struct path_clause *clause)
{
    struct path_item *file = &list->at[list->count - 1];
    file->clauses = list_reserve(tree, file->clauses, file->clause_count, sizeof *file->clauses);
    file->clauses[file->clause_count++] = *clause;
    file->span = span_join(file->span, clause->span);
    return list;
}
