/* Completion at the prompt: what may stand where the cursor is. */
#ifndef RQL_REPL_LINE_COMPLETE_H
#define RQL_REPL_LINE_COMPLETE_H

#include "base/strbuf.h"
#include "engine/env/env.h"

/* What is known where something is typed. */
struct completer {
    struct env *env;            /* files are opened through it; nothing is defined in it */
    const struct strbuf *entry; /* the lines before, of the same entry */
};

struct completions {
    const char **names; /* NULL-terminated, each once, in no order; a function ends in `(` */
    size_t count;
    bool paths; /* files too */
};

/* What may take the place of the word line[start..end-1], of which line[start..end-1] has been typed; the line goes on
 * after `end` for all that is known. Everything is allocated in the arena. */
struct completions complete_word(const struct completer *completer, const char *line, size_t start, size_t end,
                                 struct arena *arena);

/* Whether the word that begins at `start` may be a path: it then ends at other characters. */
bool complete_takes_path(const struct completer *completer, const char *line, size_t start);

#endif
