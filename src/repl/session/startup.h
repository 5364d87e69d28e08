/* The user's rqlrc. */
#ifndef RQL_REPL_SESSION_STARTUP_H
#define RQL_REPL_SESSION_STARTUP_H

#include "repl/session/session.h"

/* Runs $XDG_CONFIG_HOME/rql/rqlrc or ~/.config/rql/rqlrc if it exists, unless --no-init was given. */
void startup_run(struct session *session);

#endif
