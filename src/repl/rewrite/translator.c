#include "repl/rewrite/translator.h"

#include "engine/run/preview.h"
#include "parser/parse.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

struct phrase translate_fail(struct translator *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!t->told)
        t->told = arena_vprintf(t->arena, format, args);
    va_end(args);
    return (struct phrase){0};
}

bool tell(struct translator *t, const char *instead)
{
    (void)translate_fail(t, "%s", instead);
    return false;
}

void list_add(struct translator *t, const char **list, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *item = arena_vprintf(t->arena, format, args);
    *list = *list ? arena_printf(t->arena, "%s, %s", *list, item) : item;
    va_end(args);
}

const char *list_next(struct translator *t, const char **list)
{
    if (!*list || !**list)
        return NULL;
    const size_t length = strcspn(*list, ",");
    const char *name = arena_text(t->arena, *list, length);
    *list += length + strspn(*list + length, ", ");
    return name;
}

bool list_has(struct translator *t, const char *list, const char *name)
{
    for (const char *item; (item = list_next(t, &list));) {
        if (strcmp(item, name) == 0)
            return true;
    }
    return false;
}

const struct rewrite_token *token_at(const struct translator *t, size_t token)
{
    return &t->text->tokens[token < t->text->count ? token : t->text->count];
}

bool token_is(const struct translator *t, size_t token, const char *word)
{
    return token < t->end && rewrite_token_is(t->text, token, word, strlen(word));
}

bool next_is(const struct translator *t, const char *word)
{
    return token_is(t, t->at, word);
}

bool accept(struct translator *t, const char *word)
{
    if (!next_is(t, word))
        return false;
    t->at++;
    return true;
}

bool accept_two(struct translator *t, const char *first, const char *second)
{
    if (!next_is(t, first) || !token_is(t, t->at + 1, second))
        return false;
    t->at += 2;
    return true;
}

bool expect(struct translator *t, const char *word)
{
    if (accept(t, word))
        return true;
    (void)translate_fail(t, "`%s` was expected %s%s%s", word, t->at < t->end ? "at `" : "at the end",
                         t->at < t->end ? token_text(t, t->at) : "", t->at < t->end ? "`" : "");
    return false;
}

enum rewrite_token_kind next_kind(const struct translator *t)
{
    return t->at < t->end ? token_at(t, t->at)->kind : REWRITE_END;
}

const char *token_text(const struct translator *t, size_t token)
{
    const struct rewrite_token *found = token_at(t, token);
    return arena_text(t->arena, t->text->text + found->begin, found->end - found->begin);
}

const char *token_raw(const struct translator *t, size_t token)
{
    const struct rewrite_token *found = token_at(t, token);
    const size_t quote = found->kind == REWRITE_QUOTED ? 1 : 0;
    return arena_text(t->arena, t->text->text + found->begin + quote, found->end - found->begin - 2 * quote);
}

bool next_is_name(const struct translator *t)
{
    if (next_kind(t) != REWRITE_QUOTED)
        return next_kind(t) == REWRITE_WORD;
    const char quote = t->text->text[token_at(t, t->at)->begin];
    return quote == '`' || (quote == '"' && t->dialect == DIALECT_SQL);
}

static int bracket(const struct translator *t, size_t token)
{
    if (token_at(t, token)->kind != REWRITE_SIGN)
        return 0;
    const char c = t->text->text[token_at(t, token)->begin];
    return strchr("([{", c) ? 1 : strchr(")]}", c) ? -1 : 0;
}

size_t after_brackets(const struct translator *t, size_t open)
{
    int depth = 0;
    for (size_t i = open; i < t->end; i++) {
        depth += bracket(t, i);
        if (depth == 0)
            return i + 1;
    }
    return t->end;
}

bool is_one_of(const char *name, const char *list)
{
    const size_t length = strlen(name);
    while (*list) {
        const size_t next = strcspn(list, " ");
        if (next == length && strncasecmp(list, name, length) == 0)
            return true;
        list += next + (list[next] == ' ');
    }
    return false;
}

size_t find_word(const struct translator *t, size_t from, const char *list)
{
    for (size_t i = from; i < t->end; i++) {
        if (bracket(t, i) > 0)
            i = after_brackets(t, i) - 1;
        else if (token_at(t, i)->kind != REWRITE_QUOTED && is_one_of(token_text(t, i), list))
            return i;
    }
    return t->end;
}

/* Scopes. */

void known_add(struct translator *t, struct known_columns *scope, struct known_column column)
{
    *ARENA_PUSH(t->arena, scope->columns, scope->count, scope->capacity) = column;
}

static enum phrase_type phrase_type_of(const struct preview_column *column)
{
    switch (column->logical.kind) {
    case LOGICAL_TEXT:
        return PHRASE_TEXT;
    case LOGICAL_DATE:
        return PHRASE_DATE;
    case LOGICAL_TIMESTAMP:
        return PHRASE_TIMESTAMP;
    case LOGICAL_DURATION:
        return PHRASE_DURATION;
    case LOGICAL_LIST:
        return PHRASE_UNKNOWN;
    case LOGICAL_DECIMAL:
        return PHRASE_DECIMAL;
    default:
        return column->type == TYPE_BOOL ? PHRASE_BOOL : column->type >= TYPE_F32 ? PHRASE_FLOAT : PHRASE_INT;
    }
}

enum { MOST_LETS = 8 /* of each other */ };

/* The end of a statement, as far as a look at quotes and comments tells. */
static const char *statement_end(const char *at)
{
    char quote = '\0';
    for (; *at && (quote || (*at != '\n' && *at != ';' && *at != '#')); at++)
        quote = quote ? (*at == quote ? '\0' : quote) : *at == '"' || *at == '\'' || *at == '`' ? *at : '\0';
    return at;
}

/* What the last `let NAME = ...` before the line gives; NULL: there is none. */
static const char *let_before(const struct translator *t, const char *name, size_t length)
{
    const char *found = NULL;
    for (const char *at = t->before; at && *at;) {
        const char *end = statement_end(at);
        at += strspn(at, " \t");
        if (strncmp(at, "let ", 4) == 0) {
            const char *word = at + 4 + strspn(at + 4, " "), *rest = word + length;
            if (strncmp(word, name, length) == 0 && rest[strspn(rest, " ")] == '=') {
                rest += strspn(rest, " ") + 1;
                found = arena_text(t->arena, rest, (size_t)(end - rest));
            }
        }
        at = *end == '#' ? end + strcspn(end, "\n") : end;
        at += *at != '\0';
    }
    return found;
}

bool known_relation(const struct translator *t, const char *name)
{
    const struct binding *binding = env_find(t->env, name);
    if (binding)
        return binding->kind == BINDING_RELATION;
    return let_before(t, name, strlen(name));
}

/* A pipeline that begins with a name which a statement before the line gives, with what that is in its place. */
static const char *with_let(const struct translator *t, const char *pipeline, int levels)
{
    size_t length = 0;
    while (isalnum((unsigned char)pipeline[length]) || pipeline[length] == '_')
        length++;
    const char *name = arena_text(t->arena, pipeline, length);
    const char *let = length > 0 && !env_find(t->env, name) ? let_before(t, name, length) : NULL;
    if (!let || levels == 0)
        return pipeline;
    return arena_printf(t->arena, "(%s)%s", with_let(t, let + strspn(let, " "), levels - 1), pipeline + length);
}

bool known_add_source(struct translator *t, struct known_columns *scope, const char *pipeline, const char *table)
{
    const char *text =
        arena_printf(t->arena, "%s | skip 0", with_let(t, pipeline, MOST_LETS)); /* a name alone is no pipeline */
    const struct source source = {"", text, (uint32_t)strlen(text)};
    struct diags diags;
    struct stmt *stmt = NULL;
    struct preview_column *columns = NULL;
    size_t count = 0;
    diags_init(&diags, t->arena);
    const bool known = parse(&source, PARSE_PROMPT, t->arena, &diags, &stmt) == PARSE_OK && stmt && stmt->pipeline &&
                       preview_columns(t->env, stmt->pipeline, t->arena, &columns, &count);
    for (size_t i = 0; i < count; i++)
        known_add(t, scope,
                  (struct known_column){.table = table,
                                        .name = columns[i].name,
                                        .text = phrase_name(columns[i].name, t->arena),
                                        .type = phrase_type_of(&columns[i]),
                                        .optional = columns[i].optional,
                                        .days = columns[i].type == TYPE_U16 && !columns[i].logical.kind});
    scope->open = scope->open || !known;
    return known;
}

const struct known_column *known_find(const struct known_columns *scope, const char *table, const char *name)
{
    for (size_t i = 0; i < scope->count; i++) {
        const struct known_column *column = &scope->columns[i];
        if (strcasecmp(column->name, name) == 0 && (!table || (column->table && strcasecmp(column->table, table) == 0)))
            return column;
    }
    return NULL;
}
