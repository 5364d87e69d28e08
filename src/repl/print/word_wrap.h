/* Text in lines of a terminal's width. */
#ifndef RQL_REPL_PRINT_WORD_WRAP_H
#define RQL_REPL_PRINT_WORD_WRAP_H

#include "base/strbuf.h"

/* Appends the words of a text, without control bytes, where `begin` cells of the line are taken already. Where a line
 * would have more than `width` cells another begins below, after as many blanks; 0: never. What stands between
 * backquotes stays together where a line has room for it. */
void word_wrap(struct strbuf *out, const char *text, size_t begin, size_t width);

#endif
