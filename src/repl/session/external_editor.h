/* Editing text in the user's editor. */
#ifndef RQL_REPL_SESSION_EXTERNAL_EDITOR_H
#define RQL_REPL_SESSION_EXTERNAL_EDITOR_H

#include "base/diag.h"
#include "base/strbuf.h"

/* Opens the text in $VISUAL or $EDITOR and appends the result to `edited`, without trailing white space. On failure
 * adds an error at `span`. */
enum status external_editor_run(const char *text, struct span span, struct strbuf *edited, struct diags *diags);

#endif
