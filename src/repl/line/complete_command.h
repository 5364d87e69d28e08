/* Completion of dot commands: their names and, from the usage in the command table, their arguments. */
#ifndef RQL_REPL_LINE_COMPLETE_COMMAND_H
#define RQL_REPL_LINE_COMPLETE_COMMAND_H

#include "engine/env/env.h"

struct command_words {
    const char *const *words; /* NULL-terminated */
    bool paths;
};

/* Returns whether the line begins with a dot. */
bool complete_is_command(const char *line);

/* Returns the words, or paths, possible at `start` of such a line. */
struct command_words complete_command(const char *line, size_t start, const struct env *env, struct arena *arena);
bool complete_command_takes_path(const char *line, size_t start);

#endif
