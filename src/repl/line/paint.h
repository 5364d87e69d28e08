/* Draws a line in colours over the same line on the terminal, which a line editor has drawn without. */
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

/* Appends what draws the line; afterwards the cursor is where it was. Lines wrap at the width, and newlines in the line
 * begin rows. False, and nothing is appended: the line has bytes whose place is not certain, or does not fit the
 * screen. Widths of characters are those of the locale. */
bool paint_line(struct strbuf *out, const struct painting *painting);

#endif
