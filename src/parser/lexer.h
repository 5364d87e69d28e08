/* Text to lexemes: where each begins and ends and of what kind it is, but not yet what it says (see token.h). */
#ifndef RQL_PARSER_LEXER_H
#define RQL_PARSER_LEXER_H

#include "base/source.h"
#include "parser/words.h"

#include <stdbool.h>

/* Kinds that are not tokens of the grammar; those are the TOKEN_... of the generated header, all below these. */
enum lexeme_kind {
    LEX_EOF = 0x100,
    LEX_NEWLINE,
    LEX_SEMICOLON,
    LEX_COMMAND,       /* a dot command: `.` and a letter, up to the end of the line */
    LEX_NONE,          /* lexer_path: no path here */
    LEX_BAD_NUMBER,    /* a number with letters in it: 12abc */
    LEX_BAD_STRING,    /* a string without its closing quote on the line */
    LEX_BAD_QUOTED,    /* a `name without its closing backquote on the line */
    LEX_BAD_POSITION,  /* $ without a number */
    LEX_BAD_CHARACTER, /* a character that means nothing here */
    LEX_BAD_BYTE       /* NUL, or a byte that is not UTF-8 */
};

struct lexeme {
    int kind;
    uint32_t begin;
    uint32_t end;
    const struct word *word; /* the row of a word of the table, else NULL */
};

struct lexer {
    const struct source *source;
    const unsigned char *cursor;
    const unsigned char *limit;
};

/* Begins at the start of the source, after a byte order mark. */
void lexer_init(struct lexer *lexer, const struct source *source);

/* The next lexeme; spaces and comments are passed over, newlines are not. At the end LEX_EOF, again and again. */
struct lexeme lexer_next(struct lexer *lexer);

/* A bare path, TOKEN_PATH: up to white space or one of , ; | ( ) #. Unless `any_word`, it must hold a `.` or `/`.
 * LEX_NONE, with nothing consumed, if none is here. */
struct lexeme lexer_path(struct lexer *lexer, bool any_word);

/* A dot command, LEX_COMMAND, if one begins here; else LEX_NONE, with nothing consumed. */
struct lexeme lexer_command(struct lexer *lexer);

#endif
