/* Arguments of a script: `--arg` and what follows the script on the command line. */
#ifndef RQL_REPL_SESSION_ARGUMENTS_H
#define RQL_REPL_SESSION_ARGUMENTS_H

#include "repl/session/options.h"

struct session;

/* Defines each argument, NAME=VALUE or NAME:TYPE=VALUE, other text as arg1, arg2, ... by its position among all. VALUE
 * is never run: it is the literal of a number, condition, date, time stamp or duration, or a text. Reports errors and
 * then returns EXIT_USAGE. */
enum exit_status arguments_define(struct session *session, const struct options *options);

#endif
