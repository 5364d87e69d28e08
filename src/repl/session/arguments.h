/* What follows a script on the command line: values it is given by name. */
#ifndef RQL_REPL_SESSION_ARGUMENTS_H
#define RQL_REPL_SESSION_ARGUMENTS_H

#include "repl/session/options.h"

struct session;

/* Defines each argument: NAME=TEXT as `let NAME = TEXT` would, other text as arg1, arg2, ... by its place among all.
 * TEXT is a value or a pipeline, and nothing more than one. Errors are reported; EXIT_USAGE if there were any. */
enum exit_status arguments_define(struct session *session, const struct options *options);

#endif
