/* The colours of a line while it is typed. */
#ifndef RQL_REPL_LINE_HIGHLIGHT_H
#define RQL_REPL_LINE_HIGHLIGHT_H

#include "repl/line/complete.h"

static const size_t NO_CURSOR = SIZE_MAX;

/* Returns the style of each byte of a line, an index for highlight_escape, in the arena. The bracket at the cursor, or
 * else before it, and its counterpart are emphasised, and so is an unmatched closing bracket.
 * `cursor`: a byte of the line, or NO_CURSOR. */
const unsigned char *highlight_line(const struct completer *completer, const char *line, size_t length, size_t cursor,
                                    struct arena *arena);

/* The escape sequence that begins a style, after another one. */
const char *highlight_escape(unsigned char style);

#endif
