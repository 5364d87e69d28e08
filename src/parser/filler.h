/* Signs and words of other languages that add nothing, and that are left out: the `by` of `group by`, and the `*` of
 * `count(*)`. */
#ifndef RQL_PARSER_FILLER_H
#define RQL_PARSER_FILLER_H

#include "parser/expect.h"
#include "parser/lexer.h"

/* Whether the lexeme after the trail is filler; if so, moves the lexer past it. */
bool filler_skip(const struct trail *trail, struct lexer *lexer, struct lexeme lexeme);

#endif
