/* Completion of dot commands: their names and, read from the usage that help shows, what may follow. */
#ifndef RQL_REPL_LINE_COMPLETE_COMMAND_H
#define RQL_REPL_LINE_COMPLETE_COMMAND_H

#include "engine/env/env.h"

struct command_words {
    const char *const *words; /* NULL-terminated */
    bool paths;
};

/* Whether the line is a dot command, however little of it has been typed. */
bool complete_is_command(const char *line);

/* What may stand at `start` of such a line. */
struct command_words complete_command(const char *line, size_t start, const struct env *env, struct arena *arena);
bool complete_command_takes_path(const char *line, size_t start);

#endif
