/* Lines of q. */
#ifndef RQL_REPL_REWRITE_Q_H
#define RQL_REPL_REWRITE_Q_H

#include "repl/rewrite/frames.h"

/* Whether a line of q begins there. */
bool is_q(const struct translator *t, size_t at);

/* The line of the tokens at hand; NULL: it cannot be said. */
const char *translate_q(struct translator *t);

#endif
