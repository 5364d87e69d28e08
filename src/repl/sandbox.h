/* `--safe`: what a script from others may do, as the kernel enforces it whatever rql does. */
#ifndef RQL_REPL_SANDBOX_H
#define RQL_REPL_SANDBOX_H

#include "base/strbuf.h"

#include <stdbool.h>

/* From now on the process reads files of the current directory and those below, the script, and the given ones, writes
 * no file, runs no program and opens no connection. Called while there is one thread. False, with the reason, if the
 * kernel cannot enforce this. */
bool sandbox_enter(const char *script, const char *const *files, size_t count, struct strbuf *problem);

#endif
