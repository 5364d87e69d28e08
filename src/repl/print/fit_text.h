/* Text in a given width: wrapped, or truncated. */
#ifndef RQL_REPL_PRINT_FIT_TEXT_H
#define RQL_REPL_PRINT_FIT_TEXT_H

#include "base/strbuf.h"
#include "base/text.h"

/* Appends the words of a text, control bytes escaped, starting at cell `begin`; following lines are indented to it.
 * Lines have at most `width` cells (0: unlimited). Text in backquotes is not broken if it fits a line. */
void word_wrap(struct strbuf *out, const char *text, size_t begin, size_t width);

/* Appends text with control bytes escaped; if it is wider than `cells`, truncated and with `…` at its end. */
void add_cut_text(struct strbuf *out, struct text text, size_t cells);

#endif
