/* The prompt: reads entries of one or more lines and runs them. */
#ifndef RQL_REPL_LINE_PROMPT_H
#define RQL_REPL_LINE_PROMPT_H

#include "repl/session/session.h"

/* Runs until the user quits. `editing`: use the line editor, as standard output is a terminal too. */
enum exit_status prompt_run(struct session *session, bool editing);

#endif
