/* Line wrapping. */
#ifndef RQL_REPL_PRINT_WORD_WRAP_H
#define RQL_REPL_PRINT_WORD_WRAP_H

#include "base/strbuf.h"

/* Appends the words of a text, control bytes escaped, starting at cell `begin`; following lines are indented to it.
 * Lines have at most `width` cells (0: unlimited). Text in backquotes is not broken if it fits a line. */
void word_wrap(struct strbuf *out, const char *text, size_t begin, size_t width);

#endif
