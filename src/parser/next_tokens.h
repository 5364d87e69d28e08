/* Between parse.c, which follows a text, and next.c, which says what may come next. Private to the two. */
#ifndef RQL_PARSER_NEXT_TOKENS_H
#define RQL_PARSER_NEXT_TOKENS_H

#include "parser/automaton.h"
#include "parser/expect.h"
#include "parser/next.h"

/* Fills in what the automaton takes now; *next is zeroed. */
void next_describe(const struct automaton *automaton, const struct trail *trail, struct arena *arena,
                   struct next *next);

#endif
