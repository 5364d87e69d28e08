/* The names that commands have in other shells. */
#ifndef RQL_REPL_SESSION_COMMAND_ALIASES_H
#define RQL_REPL_SESSION_COMMAND_ALIASES_H

#include <stddef.h>

/* Returns the command of this name in another shell, such as ".format" for ".mode"; NULL: none. */
const char *command_of_alias(const char *word, size_t length);

#endif
