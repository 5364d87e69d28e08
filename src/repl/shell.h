/* The top level of a session: queries of the command line, a script or the prompt. */
#ifndef RQL_REPL_SHELL_H
#define RQL_REPL_SHELL_H

#include "repl/session/options.h"
#include "repl/session/platform.h"

/* Runs the queries, the script or the prompt and returns the exit status of rql. */
enum exit_status shell_main(const struct options *options, const struct platform *platform);

#endif
