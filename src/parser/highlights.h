/* What is highlighted in a text that is being typed. */
#ifndef RQL_PARSER_HIGHLIGHTS_H
#define RQL_PARSER_HIGHLIGHTS_H

#include "base/arena.h"
#include "base/source.h"
#include "parser/lexer.h"

enum highlight_kind {
    HIGHLIGHT_PLAIN,   /* names, operators and what is between; not listed */
    HIGHLIGHT_WORD,    /* a word of the language where it means that */
    HIGHLIGHT_CALL,    /* a name before its `(`, or of a stage of the user's */
    HIGHLIGHT_NUMBER,  /* also a date, a duration and the like */
    HIGHLIGHT_STRING,  /* text in quotes, which may still lack its end */
    HIGHLIGHT_PATH,    /* a bare path */
    HIGHLIGHT_COMMENT, /* # and the rest of the line */
    HIGHLIGHT_COMMAND, /* a dot command, with its arguments */
    HIGHLIGHT_OPEN,    /* ( or [ */
    HIGHLIGHT_CLOSE    /* ) or ] */
};

struct highlight {
    uint32_t begin, end; /* bytes of the text */
    enum highlight_kind kind;
};

struct highlights {
    struct highlight *at; /* in the arena; in the order of the text */
    size_t count, capacity;
    struct lexeme last; /* the last lexeme added, and whether it is a name: a call, if `(` follows */
    bool named;
};

/* Finds the highlights of a text as typed at the prompt, complete or not. The grammar tells words from names up to the
 * first error of a statement; after it a word counts at the beginning of a stage. */
struct highlights parse_highlights(const struct source *text, struct arena *arena);

#endif
