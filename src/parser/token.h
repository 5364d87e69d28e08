/* A lexeme with its value: what the grammar's tokens carry. */
#ifndef RQL_PARSER_TOKEN_H
#define RQL_PARSER_TOKEN_H

#include "base/arena.h"
#include "base/diag.h"
#include "parser/lexer.h"

#include <stdbool.h>
#include <stdint.h>

struct token {
    uint32_t begin;
    uint32_t end;
    const struct word *word; /* its row of the word table, else NULL */
    union {
        const char *text; /* names, paths and strings: unquoted, in the arena or the word table */
        int64_t integer;  /* integers, positions, dates, timestamps, durations, months */
        double number;
    } value;
    uint32_t length; /* TOKEN_TEXT: bytes of value.text, which may contain NUL */
    bool utc;        /* TOKEN_TIMESTAMP: it has a zone */
};

/* Reads the value of a lexeme. Returns false with an error recorded for a bad lexeme, a number out of range or a name
 * that is too long. A quoted string is read as a path if its kind is TOKEN_STRING, as text if it is TOKEN_TEXT. May
 * change the lexeme's kind: 9223372036854775808 becomes TOKEN_INT_LIMIT. */
bool token_read(const struct source *source, struct lexeme *lexeme, struct arena *arena, struct diags *diags,
                struct token *token);

/* The lexeme's text for messages: at most a few dozen cells, control bytes escaped. */
const char *token_shown(const struct source *source, struct lexeme lexeme, struct arena *arena);

#endif
