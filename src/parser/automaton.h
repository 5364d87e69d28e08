/* The generated parser behind a small interface: it is fed one statement token by token.
 *
 * Token kinds are the TOKEN_... of the generated header; 0 ends the statement. */
#ifndef RQL_PARSER_AUTOMATON_H
#define RQL_PARSER_AUTOMATON_H

#include "parser/ast_build.h"

#include <stdbool.h>

struct automaton;

/* A parser whose actions build `tree`. Its stack is large, so it has its own memory and is freed before the tree. */
struct automaton *automaton_new(struct tree *tree);
void automaton_free(struct automaton *automaton);

/* Restarts with a new statement. The caller resets the tree. */
void automaton_reset(struct automaton *automaton);

/* Feeds one token. Sets tree->unexpected if it is not accepted here (see automaton_accepts), tree->too_deep if the
 * stack overflows, and tree->failed, with an error recorded, if another limit is exceeded. Then only automaton_reset
 * may follow. */
void automaton_feed(struct automaton *automaton, int kind, struct token token);

/* Whether the token is accepted now. Changes nothing. */
bool automaton_accepts(const struct automaton *automaton, int kind);

/* automaton_accepts without the fallback of unreserved words to names: for listing what is expected. */
bool automaton_expects(const struct automaton *automaton, int kind);

#endif
