/* Habits of other shells and languages: what they write, and how it is written here. */
#ifndef RQL_REPL_HABITS_HABITS_H
#define RQL_REPL_HABITS_HABITS_H

#include "engine/env/env.h"
#include "parser/parse.h"

/* Where an error looks like a habit of another language, replaces its message and its hint by the habit's answer: the
 * user's own line as it is written here. Looks at the errors from `since` on: at those of syntax, which name their
 * statement, and, if `statement` is not empty, at those of meaning in it. */
void habits_answer(const struct env *env, enum parse_mode mode, struct diags *diags, size_t since,
                   struct span statement);

/* Notes what of a valid statement means something else in other languages. */
void habits_note(const struct env *env, struct span statement, struct diags *diags);

#endif
