/* Syntax errors in words: what was found, what could have stood there, and what was probably meant. */
#ifndef RQL_PARSER_EXPECT_H
#define RQL_PARSER_EXPECT_H

#include "parser/automaton.h"
#include "parser/lexer.h"

/* What was read of a statement, as far as advice depends on it. */
struct trail {
    size_t count;             /* of lexemes */
    struct lexeme first;      /* if count > 0 */
    struct lexeme last;       /* if count > 0 */
    const struct word *stage; /* the word of the stage read last, or NULL */
    size_t brackets;          /* open now */
    size_t outside;           /* of these, opened before that stage */
    size_t questions;         /* in that stage, `?` that wait for their `:` */
    bool second_part;         /* another `:` of that stage has been read */
};

/* Records the error that `found`, which the automaton does not accept, is where it is. */
void report_unexpected(const struct automaton *automaton, const struct tree *tree, const struct trail *trail,
                       struct lexeme found);

#endif
