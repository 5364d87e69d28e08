/* The prompt: entries of one or more lines, each a source of its own. */
#ifndef RQL_REPL_LINE_PROMPT_H
#define RQL_REPL_LINE_PROMPT_H

#include "repl/session/session.h"

/* The prompt, until the user leaves. `editing`: standard output is a terminal too. */
enum exit_status prompt_run(struct session *session, bool editing);

#endif
