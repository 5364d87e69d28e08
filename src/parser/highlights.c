#include "parser/pieces.h"

#include "parser/grammar.h"

#include <string.h>

static void add(struct pieces *pieces, uint32_t begin, uint32_t end, enum piece_kind kind, struct arena *arena)
{
    pieces->at = arena_reserve(arena, pieces->at, pieces->count, &pieces->capacity, sizeof *pieces->at);
    pieces->at[pieces->count++] = (struct piece){begin, end, kind};
}

/* Between lexemes there are only blanks, newlines and comments. */
static void add_comments(struct pieces *pieces, const struct source *text, uint32_t begin, uint32_t end,
                         struct arena *arena)
{
    while (begin < end) {
        const char *line = text->text + begin;
        const char *newline = memchr(line, '\n', end - begin);
        const size_t length = newline ? (size_t)(newline - line) : end - begin;
        const char *mark = memchr(line, '#', length);
        if (mark)
            add(pieces, begin + (uint32_t)(mark - line), begin + (uint32_t)length, PIECE_COMMENT, arena);
        begin += (uint32_t)length + 1;
    }
}

static enum piece_kind kind_of(struct lexeme lexeme, bool itself)
{
    switch (lexeme.kind) {
    case TOKEN_LP:
    case TOKEN_LB:
        return PIECE_OPEN;
    case TOKEN_RP:
    case TOKEN_RB:
        return PIECE_CLOSE;
    case TOKEN_INT:
    case TOKEN_INT_LIMIT:
    case TOKEN_FLOAT:
    case TOKEN_DATE:
    case TOKEN_TIMESTAMP:
    case TOKEN_DURATION:
    case TOKEN_MONTHS:
        return PIECE_NUMBER;
    case TOKEN_TEXT:
    case TOKEN_STRING:
    case LEX_BAD_STRING:
        return PIECE_STRING;
    case TOKEN_PATH:
        return PIECE_PATH;
    case TOKEN_STAGE_NAME:
        return PIECE_CALL;
    case TOKEN_NOT_IN:
        return PIECE_WORD;
    case LEX_COMMAND:
        return PIECE_COMMAND;
    default:
        return itself ? PIECE_WORD : PIECE_PLAIN;
    }
}

void pieces_add(struct pieces *pieces, const struct source *text, struct lexeme lexeme, bool itself,
                struct arena *arena)
{
    const enum piece_kind kind = kind_of(lexeme, itself);
    const struct lexeme last = pieces->last;
    if (lexeme.kind == TOKEN_LP && pieces->named && last.end == lexeme.begin)
        add(pieces, last.begin, last.end, PIECE_CALL, arena);
    add_comments(pieces, text, last.end, lexeme.begin, arena);
    if (kind != PIECE_PLAIN)
        add(pieces, lexeme.begin, lexeme.end, kind, arena);
    pieces->last = lexeme;
    pieces->named = kind == PIECE_PLAIN && (lexeme.kind == TOKEN_NAME || lexeme.word);
}
