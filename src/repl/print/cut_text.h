/* Text cut to the width there is. */
#ifndef RQL_REPL_PRINT_CUT_TEXT_H
#define RQL_REPL_PRINT_CUT_TEXT_H

#include "base/strbuf.h"
#include "base/text.h"

/* Appends text with control bytes escaped; if it takes more than `cells`, as much of it as leaves room for `…`. */
void add_cut_text(struct strbuf *out, struct text text, size_t cells);

#endif
