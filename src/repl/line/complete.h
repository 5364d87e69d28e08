/* Completion at the prompt. */
#ifndef RQL_REPL_LINE_COMPLETE_H
#define RQL_REPL_LINE_COMPLETE_H

#include "base/source.h"
#include "base/strbuf.h"
#include "engine/env/env.h"

struct completer {
    struct env *env;            /* opens files; is not changed */
    const struct strbuf *entry; /* earlier lines of the same entry */
};

struct completions {
    const char **names; /* unique; columns first, in their order; functions end in `(` */
    size_t count;
    size_t columns; /* how many are columns */
    bool paths;     /* also files */
};

/* The entry up to a place in its last line: `length` bytes of `line`, after the earlier lines. In the arena. */
struct source completer_text(const struct completer *completer, const char *line, size_t length, struct arena *arena);

/* Returns the completions of the word line[start..end-1], allocated in the arena. */
struct completions complete_word(const struct completer *completer, const char *line, size_t start, size_t end,
                                 struct arena *arena);

/* Returns whether the word at `start` may be a path; then other characters end it. */
bool complete_takes_path(const struct completer *completer, const char *line, size_t start);

/* complete_command.c: completion of dot commands: their names and, from the usage in the command table, their
 * arguments. */

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
