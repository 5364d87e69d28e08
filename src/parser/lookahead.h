/* What the tokens after a word or bracket say about it. The lexer is just after it; nothing is read for good. */
#ifndef RQL_PARSER_LOOKAHEAD_H
#define RQL_PARSER_LOOKAHEAD_H

#include "parser/automaton.h"
#include "parser/lexer.h"

#include <stdbool.h>

/* What a set of columns would be written beside, after so many tokens of the statement. */
enum set_form set_form(const struct automaton *automaton, size_t tokens);

/* A name where a stage is expected: whether it is used like one that the user has defined, alone or called. Others are
 * mistakes, for which the words of stages are listed. */
bool ahead_uses_stage(struct lexer ahead);

/* A bracket: whether it opens a pipeline that is a value, with a `|` before the word of a stage. Where a `source` may
 * stand, too, an operator has to follow. */
bool ahead_is_value(struct lexer ahead, bool source);

/* A `|`: whether it opens a head, of names separated by commas and another `|`. Where it may also be a `pipe`, as after
 * `sum`, a single stage word between bars is a stage. At the `prompt`, text that ends after a comma is a head. */
bool ahead_is_head(struct lexer ahead, bool pipe, bool prompt);

/* `let` at the start of a line: whether it is within an expression, since the line has a `:` or ends with a comma. */
bool ahead_is_local(struct lexer ahead);

/* `let`: whether a definition follows; elsewhere that is a name itself. At the `prompt` the text may end after its
 * name. */
bool ahead_is_definition(struct lexer ahead, bool prompt);

/* A word after a path: TOKEN_CLAUSE or TOKEN_CLAUSE_BARE if it is a clause's, with what has to follow that; else 0. */
int ahead_clause(struct lexer ahead, struct lexeme word);

#endif
