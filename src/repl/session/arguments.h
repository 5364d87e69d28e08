/* Arguments of a script: `--arg` and what follows the script on the command line. */
#ifndef RQL_REPL_SESSION_ARGUMENTS_H
#define RQL_REPL_SESSION_ARGUMENTS_H

#include "repl/session/options.h"

struct session;

/* Defines each argument: NAME=TEXT like `let NAME = TEXT`, other text as arg1, arg2, ... by its position among all.
 * TEXT must be a single value or pipeline, or a path. Reports errors and then returns EXIT_USAGE. */
enum exit_status arguments_define(struct session *session, const struct options *options);

#endif
