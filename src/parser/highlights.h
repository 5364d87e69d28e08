/* What the parts of a text are while it is typed, for highlighting. */
#ifndef RQL_PARSER_PIECES_H
#define RQL_PARSER_PIECES_H

#include "base/arena.h"
#include "base/source.h"
#include "parser/lexer.h"

enum piece_kind {
    PIECE_PLAIN,   /* names, operators and what is between; not listed */
    PIECE_WORD,    /* a word of the language where it means that */
    PIECE_CALL,    /* a name before its `(`, or of a stage of the user's */
    PIECE_NUMBER,  /* also a date, a duration and the like */
    PIECE_STRING,  /* text in quotes, which may still lack its end */
    PIECE_PATH,    /* a bare path */
    PIECE_COMMENT, /* # and the rest of the line */
    PIECE_COMMAND, /* a dot command, with its arguments */
    PIECE_OPEN,    /* ( or [ */
    PIECE_CLOSE    /* ) or ] */
};

struct piece {
    uint32_t begin, end; /* bytes of the text */
    enum piece_kind kind;
};

struct pieces {
    struct piece *at; /* in the arena; in the order of the text */
    size_t count, capacity;
    struct lexeme last; /* the last lexeme added, and whether it is a name: a call, if `(` follows */
    bool named;
};

/* Finds the pieces of a text as typed at the prompt, complete or not. The grammar tells words from names up to the
 * first error of a statement; after it a word counts at the beginning of a stage. (parse.c) */
struct pieces parse_pieces(const struct source *text, struct arena *arena);

/* Adds the piece of the next lexeme, and those of the comments before it. `itself`: a word stands for itself, and is no
 * name. Only for parse.c. */
void pieces_add(struct pieces *pieces, const struct source *text, struct lexeme lexeme, bool itself,
                struct arena *arena);

#endif
