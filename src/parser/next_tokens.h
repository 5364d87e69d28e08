/* Shared by parse.c, which follows a text, and next.c, which describes what may follow. Not included elsewhere. */
#ifndef RQL_PARSER_NEXT_TOKENS_H
#define RQL_PARSER_NEXT_TOKENS_H

#include "parser/automaton.h"
#include "parser/expect.h"
#include "parser/next.h"

/* Sets *next, which is zeroed, to what the automaton accepts now. */
void next_describe(const struct automaton *automaton, const struct trail *trail, struct arena *arena,
                   struct next *next);

#endif
