/* Lines of other languages as lines of this one, or what there is instead. */
#ifndef RQL_REPL_REWRITE_TRANSLATE_H
#define RQL_REPL_REWRITE_TRANSLATE_H

#include "base/arena.h"
#include "engine/env/env.h"

#include <stdbool.h>
#include <stddef.h>

struct translation {
    bool found;          /* the line is of another language that is read as a whole */
    const char *line;    /* the same line here; NULL: there is none */
    const char *message; /* what is different here */
    const char *instead; /* where there is no line: what to do */
};

/* Translates a statement; `before` are the statements before it, NULL: none, of which those of `let` are looked up. */
struct translation translate_line(struct env *env, const char *before, const char *text, size_t length,
                                  struct arena *arena);

#endif
