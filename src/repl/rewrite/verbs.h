/* Lines of dplyr and of KQL: a source, then verbs. */
#ifndef RQL_REPL_REWRITE_VERBS_H
#define RQL_REPL_REWRITE_VERBS_H

#include "repl/rewrite/frames.h"

/* Whether the line has verbs of dplyr, or stages that only KQL has. */
bool is_dplyr(const struct translator *t, size_t at);
bool is_kql(const struct translator *t, size_t at);

/* The line of the tokens at hand; NULL: it cannot be said. */
const char *translate_dplyr(struct translator *t);
const char *translate_kql(struct translator *t);

/* `case_when(a ~ b, TRUE ~ c)` of R, whose bracket is read, up to the token `close`. */
struct phrase case_when(struct translator *t, size_t close);

#endif
