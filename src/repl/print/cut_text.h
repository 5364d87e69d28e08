/* Text truncated to a width. */
#ifndef RQL_REPL_PRINT_CUT_TEXT_H
#define RQL_REPL_PRINT_CUT_TEXT_H

#include "base/strbuf.h"
#include "base/text.h"

/* Appends text with control bytes escaped; if it is wider than `cells`, truncated and with `…` at its end. */
void add_cut_text(struct strbuf *out, struct text text, size_t cells);

#endif
