/* The generated parser behind four functions: one statement is fed to it token by token.
 *
 * Tokens are the TOKEN_... of the generated header; 0 ends the statement. */
#ifndef RQL_PARSER_AUTOMATON_H
#define RQL_PARSER_AUTOMATON_H

#include "parser/ast_build.h"

#include <stdbool.h>

struct automaton;

/* A parser whose actions build `tree`. It is freed by itself, before what it has built: its stack is large. */
struct automaton *automaton_new(struct tree *tree);
void automaton_free(struct automaton *automaton);

/* Back to the start of a statement. The tree is the caller's to reset. */
void automaton_reset(struct automaton *automaton);

/* Feeds one token. Sets tree->unexpected if it cannot stand there (ask automaton_accepts first), tree->too_deep if it
 * is nested deeper than the stack is high, and tree->failed, with an error recorded, if another limit is passed. After
 * any of these, only automaton_reset makes sense. */
void automaton_feed(struct automaton *automaton, int kind, struct token token);

/* Whether the token could be fed now. Nothing is changed. */
bool automaton_accepts(const struct automaton *automaton, int kind);

/* The same, but a word that is not reserved counts only as itself and not as a name. For telling what is expected. */
bool automaton_expects(const struct automaton *automaton, int kind);

#endif
