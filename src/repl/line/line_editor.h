/* Reads lines from a terminal, with or without line editing, while handling signals. */
#ifndef RQL_REPL_LINE_LINE_EDITOR_H
#define RQL_REPL_LINE_LINE_EDITOR_H

#include "base/strbuf.h"
#include "repl/line/complete.h"
#include "repl/session/platform.h"

#include <stdbool.h>

enum line_result {
    LINE_TEXT,        /* a line; a pasted block is one line with newlines */
    LINE_END,         /* Ctrl-D, or the terminal is gone */
    LINE_INTERRUPTED, /* Ctrl-C: the line is dropped */
    LINE_LEAVE        /* platform->leave is set */
};

struct line_editor {
    const struct platform *platform;
    bool editing;          /* else lines come from the terminal driver, without a prompt */
    bool colour;           /* the line is highlighted, where the editor allows that */
    struct strbuf line;    /* the last line read, without its newline */
    struct strbuf pending; /* without editing: input after that line */
    const struct completer *completer;
    struct arena *offering; /* of the completions being listed, else NULL */
    struct completions offered;
    size_t offered_at;
    size_t columns; /* of the completions being listed, the first ones */
    enum line_result result;
    bool done;
};

/* The completer must outlive the editor. */
void lineedit_open(struct line_editor *editor, const struct platform *platform, const struct completer *completer,
                   bool editing, bool colour);
void lineedit_close(struct line_editor *editor);

/* Reads a line into editor->line. Ignores earlier signals except SIGTERM and SIGHUP. */
enum line_result lineedit_read(struct line_editor *editor, const char *prompt);

/* Adds an entry to the history of the arrow keys. */
void lineedit_remember(const char *entry);

/* Appends the newest `most` entries of that history, oldest first, a line each; further lines of an entry are indented.
 */
void lineedit_list_history(struct strbuf *out, size_t most);

/* wake.c: what wakes the line editor: keys and signals. */

enum wake { WAKE_INPUT, WAKE_INTERRUPT, WAKE_RESUMED, WAKE_RESIZED, WAKE_LEAVE };

/* Waits for a key or a signal. Signals come through a pipe: a flag looked at before poll could be set in between. */
enum wake wait_for_wake(const struct platform *platform);

/* Forgets the signals caught so far. */
void discard_signals(const struct platform *platform);

/* Whether more has been typed or pasted: the line is drawn in colours after it. */
bool input_waits(void);

/* paint.c: redraws in colours the line that a line editor has drawn on the terminal without. */

struct painting {
    const char *prompt; /* before the line */
    const char *line;
    size_t length;               /* bytes */
    size_t cursor;               /* the byte that the cursor is on, or `length` */
    const unsigned char *styles; /* of each byte, as highlight_line returns */
    size_t width, height;        /* of the terminal, in cells */
};

/* Appends the characters and escape sequences that draw the line and restore the cursor. Lines wrap at the width, and
 * newlines in the line begin rows. False, with nothing appended: the position of some byte is uncertain, or the line
 * does not fit the screen. Widths of characters are those of the locale. */
bool paint_line(struct strbuf *out, const struct painting *painting);

#endif
