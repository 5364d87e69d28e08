/* Reading one line from a terminal, with an editor or plainly, while signals may come. */
#ifndef RQL_REPL_LINE_LINE_EDITOR_H
#define RQL_REPL_LINE_LINE_EDITOR_H

#include "repl/line/complete.h"
#include "repl/session/platform.h"

#include <stdbool.h>

enum line_result {
    LINE_TEXT,        /* a line; a pasted block counts as one and holds newlines */
    LINE_END,         /* Ctrl-D, or the terminal is gone */
    LINE_INTERRUPTED, /* Ctrl-C: what was typed is dropped */
    LINE_LEAVE        /* platform->leave is set */
};

struct line_editor {
    const struct platform *platform;
    bool editing;          /* with the editor; else lines are read as the terminal gives them, without a prompt */
    struct strbuf line;    /* the line read last, without its newline */
    struct strbuf pending; /* plain: what was read beyond it */
    const struct completer *completer; /* asked what may be typed */
    struct arena *offering;            /* what the editor offers now, and how far it has come; else NULL */
    struct completions offered;
    size_t offered_at;
    enum line_result result;
    bool done;
};

/* The completer is asked as long as the editor is open. */
void lineedit_open(struct line_editor *editor, const struct platform *platform, const struct completer *completer,
                   bool editing);
void lineedit_close(struct line_editor *editor);

/* Reads a line into editor->line. Signals that came before the call, but for those that ask to leave, are forgotten. */
enum line_result lineedit_read(struct line_editor *editor, const char *prompt);

/* Adds an entry to what the editor offers with the arrow keys. */
void lineedit_remember(const char *entry);

#endif
