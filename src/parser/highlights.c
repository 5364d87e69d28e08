#include "parser/highlights.h"

#include "parser/grammar.h"
#include "parser/parser.h"

#include <string.h>

static void add(struct highlights *highlights, uint32_t begin, uint32_t end, enum highlight_kind kind,
                struct arena *arena)
{
    *ARENA_PUSH(arena, highlights->at, highlights->count, highlights->capacity) = (struct highlight){begin, end, kind};
}

/* Between lexemes there are only blanks, newlines and comments. */
static void add_comments(struct highlights *highlights, const struct source *text, uint32_t begin, uint32_t end,
                         struct arena *arena)
{
    while (begin < end) {
        const char *line = text->text + begin;
        const char *newline = memchr(line, '\n', end - begin);
        const size_t length = newline ? (size_t)(newline - line) : end - begin;
        const char *mark = memchr(line, '#', length);
        if (mark)
            add(highlights, begin + (uint32_t)(mark - line), begin + (uint32_t)length, HIGHLIGHT_COMMENT, arena);
        begin += (uint32_t)length + 1;
    }
}

static enum highlight_kind kind_of(struct lexeme lexeme, bool itself)
{
    switch (lexeme.kind) {
    case TOKEN_LP:
    case TOKEN_LB:
        return HIGHLIGHT_OPEN;
    case TOKEN_RP:
    case TOKEN_RB:
        return HIGHLIGHT_CLOSE;
    case TOKEN_INT:
    case TOKEN_INT_LIMIT:
    case TOKEN_FLOAT:
    case TOKEN_DATE:
    case TOKEN_TIMESTAMP:
    case TOKEN_DURATION:
    case TOKEN_MONTHS:
        return HIGHLIGHT_NUMBER;
    case TOKEN_TEXT:
    case TOKEN_STRING:
    case LEX_BAD_STRING:
        return HIGHLIGHT_STRING;
    case TOKEN_PATH:
        return HIGHLIGHT_PATH;
    case TOKEN_STAGE_NAME:
        return HIGHLIGHT_CALL;
    case TOKEN_NOT_IN:
    case TOKEN_CLAUSE:
    case TOKEN_CLAUSE_BARE:
        return HIGHLIGHT_WORD;
    case LEX_COMMAND:
        return HIGHLIGHT_COMMAND;
    default:
        return itself ? HIGHLIGHT_WORD : HIGHLIGHT_PLAIN;
    }
}

/* Adds the highlight of the next lexeme, and those of the comments before it. `itself`: a word stands for itself, and
 * is no name. */
static void add_lexeme(struct highlights *highlights, const struct source *text, struct lexeme lexeme, bool itself,
                       struct arena *arena)
{
    const enum highlight_kind kind = kind_of(lexeme, itself);
    const struct lexeme last = highlights->last;
    if (lexeme.kind == TOKEN_LP && highlights->named && last.end == lexeme.begin)
        add(highlights, last.begin, last.end, HIGHLIGHT_CALL, arena);
    add_comments(highlights, text, last.end, lexeme.begin, arena);
    if (kind != HIGHLIGHT_PLAIN)
        add(highlights, lexeme.begin, lexeme.end, kind, arena);
    highlights->last = lexeme;
    highlights->named = kind == HIGHLIGHT_PLAIN && (lexeme.kind == TOKEN_NAME || lexeme.word);
}

/* The next lexeme of a text being typed, which the statement so far accepts if it is `sound`. */
static struct lexeme typed_lexeme(struct parser *p, bool sound)
{
    struct lexeme lexeme = {.kind = LEX_NONE};
    if (sound && p->trail.count == 0)
        lexeme = lexer_command(&p->lexer);
    if (lexeme.kind == LEX_NONE)
        lexeme = sound ? parser_lexeme(p) : lexer_next(&p->lexer);
    return lexeme;
}

struct highlights parse_highlights(const struct source *text, struct arena *arena)
{
    struct highlights highlights = {0};
    struct diags diags;
    diags_init(&diags, arena);
    struct parser p = parser_new(text, PARSE_PROMPT, arena, &diags);
    if (text->length > LIMIT_TEXT)
        return highlights;
    p.automaton = automaton_new(&p.tree);
    parser_begin_statement(&p);
    bool sound = true, first = true;
    struct lexeme lexeme = typed_lexeme(&p, sound);
    for (; lexeme.kind != LEX_EOF; lexeme = typed_lexeme(&p, sound)) {
        const bool stage = lexeme.word && highlights.last.kind == TOKEN_PIPE;
        const bool itself = lexeme.word && (sound ? automaton_expects(p.automaton, lexeme.kind) : stage);
        add_lexeme(&highlights, text, lexeme, itself, arena);
        if (first && lexeme.kind == TOKEN_PIPE)
            parser_feed_last(&p, lexeme);
        first = false;
        if (sound && lexeme.kind != LEX_COMMAND)
            sound = parser_follow(&p, &lexeme);
        if (!sound && lexeme.kind == LEX_SEMICOLON) {
            parser_begin_statement(&p);
            sound = true;
        }
    }
    add_lexeme(&highlights, text, lexeme, false, arena);
    automaton_free(p.automaton);
    return highlights;
}
