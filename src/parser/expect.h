/* Messages for syntax errors: what was found, what was expected, and a hint at what was probably meant. */
#ifndef RQL_PARSER_EXPECT_H
#define RQL_PARSER_EXPECT_H

#include "parser/automaton.h"
#include "parser/lexer.h"

/* The part of a statement read so far that hints depend on. */
struct trail {
    size_t count;             /* lexemes */
    struct lexeme first;      /* if count > 0 */
    struct lexeme last;       /* if count > 0 */
    struct lexeme previous;   /* before the last, if count > 1 */
    const struct word *stage; /* the last stage word, or NULL */
    size_t brackets;          /* open now */
    size_t outer;             /* of these, opened before that stage */
    size_t questions;         /* in that stage, `?` without their `:` */
    bool second_part;         /* that stage has had another `:` */
    bool ranged;              /* that stage has had a `..` */
};

/* Adds a lexeme that the automaton, which has not read it yet, accepts. */
void trail_add(struct trail *trail, const struct automaton *automaton, struct lexeme lexeme);

/* Records an error for `found`, which the automaton does not accept here. */
void report_unexpected(const struct automaton *automaton, const struct tree *tree, const struct trail *trail,
                       struct lexeme found);

#endif
