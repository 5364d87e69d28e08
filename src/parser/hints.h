/* Hints for syntax errors: what was probably meant. Private to the messages of expect.h. */
#ifndef RQL_PARSER_HINTS_H
#define RQL_PARSER_HINTS_H

#include "parser/expect.h"
#include "parser/lexer.h"

/* Where the error is: all that hints depend on. */
struct situation {
    const struct automaton *automaton;
    const struct tree *tree;
    const struct trail *trail;
    struct lexeme found;
};

/* expect.c: whether this token may follow, and whether the stage is one of this token. */
bool expects(const struct situation *s, int token);
bool stage_has(const struct situation *s, int token);

/* The hint, or NULL. */
const char *hint_for(const struct situation *s);

/* The hint on the first of two adjacent words if that is what is wrong, or NULL. */
const char *hint_on_first_word(const struct situation *s);

/* filler.c: signs and words of other languages that add nothing, and that are left out: the `by` of `group by`, and the
 * `*` of `count(*)`. */

/* Whether the lexeme after the trail is filler; if so, moves the lexer past it. */
bool filler_skip(const struct trail *trail, struct lexer *lexer, struct lexeme lexeme);

#endif
