/* Redraws in colours the line that a line editor has drawn on the terminal without. */
#ifndef RQL_REPL_LINE_PAINT_H
#define RQL_REPL_LINE_PAINT_H

#include "base/strbuf.h"

#include <stdbool.h>

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
