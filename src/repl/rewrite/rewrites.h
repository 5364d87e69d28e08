/* Rewrite rules (rewrites.def): a line as other shells and languages write it, and the same line in this language. */
#ifndef RQL_REPL_REWRITE_REWRITES_H
#define RQL_REPL_REWRITE_REWRITES_H

#include "engine/env/env.h"
#include "parser/parse.h"

/* Where rules turn a statement with an error into a valid one, replaces the error's message by that of the rule, and
 * its hint by the rewritten statement. Looks at the errors of `diags` from number `since` on: at those of syntax, which
 * name their statement, and, unless `statement` is empty, at those of names and types in it. */
void rewrites_correct(const struct env *env, enum parse_mode mode, struct diags *diags, size_t since,
                      struct span statement);

/* Adds a note where a part of a valid statement means something else in other languages. */
void rewrites_note(const struct env *env, struct span statement, struct diags *diags);

#endif
