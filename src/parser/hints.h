/* Hints for syntax errors: what was probably meant. Private to the messages of expect.h. */
#ifndef RQL_PARSER_HINTS_H
#define RQL_PARSER_HINTS_H

#include "parser/expect.h"

/* Where the error is: all that hints depend on. */
struct situation {
    const struct automaton *automaton;
    const struct tree *tree;
    const struct trail *trail;
    struct lexeme found;
};

/* The hint, or NULL. */
const char *hint_for(const struct situation *s);

/* The hint on the first of two adjacent words if that is what is wrong, or NULL. */
const char *hint_on_first_word(const struct situation *s);

#endif
