/* The parser, for those who follow a text that is being typed: next.c and highlights.c. */
#ifndef RQL_PARSER_PARSER_H
#define RQL_PARSER_PARSER_H

#include "parser/ast_build.h"
#include "parser/automaton.h"
#include "parser/expect.h"
#include "parser/lexer.h"
#include "parser/parse.h"

struct parser {
    enum parse_mode mode;
    size_t records_before; /* diagnostics before this source */
    struct lexer lexer;
    struct tree tree;
    struct automaton *automaton;

    /* The statement being read. */
    struct trail trail;
    struct lexer restart; /* the start of the line, if it looks like a new statement; else zero */
    struct span before;   /* and the end of the text before it */
};

struct parser parser_new(const struct source *source, enum parse_mode mode, struct arena *arena, struct diags *diags);

/* Forgets the statement so far. */
void parser_begin_statement(struct parser *p);

/* A leading `|` continues the last result: the grammar sees a source there. */
void parser_feed_last(struct parser *p, struct lexeme pipe);

/* The next lexeme, read as the statement so far expects it. */
struct lexeme parser_lexeme(struct parser *p);

/* Feeds a lexeme of an incomplete text. Returns false if it is not accepted. */
bool parser_follow(struct parser *p, struct lexeme *lexeme);

#endif
