/* Completion at the prompt: which names may stand where the cursor is. */
#ifndef RQL_REPL_COMPLETE_H
#define RQL_REPL_COMPLETE_H

#include <stddef.h>

enum complete_kind {
    COMPLETE_PATH,    /* a file: after load, zip, save and .read, and where a slash is typed */
    COMPLETE_COMMAND, /* a dot command: the first word of the line */
    COMPLETE_SETTING, /* after .set */
    COMPLETE_WORD     /* a stage, a function, a word of a statement */
};

/* What the word line[start..end-1] is, by what stands before it. */
enum complete_kind complete_kind(const char *line, size_t start, size_t end);

/* The next name of this kind that begins with `prefix`, or NULL. *at is 0 at first and then the caller's to keep. */
const char *complete_next(enum complete_kind kind, const char *prefix, size_t *at);

#endif
