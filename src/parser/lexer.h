/* The lexer: text to lexemes with their place and kind. Values are read by token.h. */
#ifndef RQL_PARSER_LEXER_H
#define RQL_PARSER_LEXER_H

#include "base/source.h"
#include "parser/words.h"

#include <stdbool.h>

/* Kinds besides the grammar's tokens, the TOKEN_... of the generated header, which are all lower. */
enum lexeme_kind {
    LEX_EOF = 0x100,
    LEX_NEWLINE,
    LEX_SEMICOLON,
    LEX_COMMAND,       /* a dot command: `.`, a letter and the rest of the line */
    LEX_NONE,          /* no path or command here */
    LEX_BAD_NUMBER,    /* a number with letters in it: 12abc */
    LEX_BAD_TIME,      /* a date or timestamp that is not written as one: 2024-1-31, 2024-01-31T9:30 */
    LEX_BAD_STRING,    /* a string without its closing quote on the line */
    LEX_BAD_QUOTED,    /* a `name without its closing backquote on the line */
    LEX_BAD_POSITION,  /* $ without a number */
    LEX_BAD_CHARACTER, /* a character without meaning */
    LEX_BAD_BYTE       /* NUL, or a byte that is not UTF-8 */
};

struct lexeme {
    int kind;
    uint32_t begin;
    uint32_t end;
    const struct word *word; /* its row of the word table, else NULL */
};

struct lexer {
    const struct source *source;
    const unsigned char *cursor;
    const unsigned char *limit;
};

/* Starts at the beginning of the source, after a byte order mark. */
void lexer_init(struct lexer *lexer, const struct source *source);

/* The next lexeme; skips spaces and comments but not newlines. Returns LEX_EOF at the end, repeatedly. */
struct lexeme lexer_next(struct lexer *lexer);

/* What a bare path must look like. */
enum path_form {
    PATH_ANY_WORD,
    PATH_LIKE,   /* it contains a `.` or `/` */
    PATH_CERTAIN /* it cannot be an expression: trades.csv, data/t.gz, ./ids, ../ids, /tmp/ids, ~/ids,
                    clickhouse://db/t; at its end, or before a `|`, a `)` or a word */
};

/* A bare path, TOKEN_PATH: up to white space or one of , ; | ( ) #. LEX_NONE, with nothing consumed, if there is none.
 */
struct lexeme lexer_path(struct lexer *lexer, enum path_form form);

/* What a set of columns may be written beside. */
enum set_form {
    SET_NONE,   /* there is none here */
    SET_NAME,   /* names: any `*` in a word is of a pattern */
    SET_OPERAND /* expressions: `a*` is a pattern where no operand of a multiplication follows */
};

/* A pattern of names, TOKEN_SET: `*`, `feature_*`, `*_id`; LEX_NONE, with nothing consumed, if there is none. */
struct lexeme lexer_set(struct lexer *lexer, enum set_form form);

/* `--dialect NAME`, TOKEN_DIALECT; LEX_NONE, with nothing consumed, if there is none. */
struct lexeme lexer_dialect(struct lexer *lexer);

/* A dot command, or one of another shell such as `\\q`, `:q` and `%time`, LEX_COMMAND; LEX_NONE, with nothing consumed,
 * if there is none. */
struct lexeme lexer_command(struct lexer *lexer);

#endif
