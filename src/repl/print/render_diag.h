/* Renders errors and notes. */
#ifndef RQL_REPL_PRINT_RENDER_DIAG_H
#define RQL_REPL_PRINT_RENDER_DIAG_H

#include "base/diag.h"
#include "base/strbuf.h"

struct render_style {
    bool colour;  /* use terminal escapes */
    size_t width; /* cells in a line; longer source lines are cut around the mark */
    bool fold;    /* wrap hints between words */
};

/* Appends a diagnostic in the format that editors parse:
 *
 *     query.rql:3:14: error: no column named 'idz'
 *        3 | load ids.bin | select idz == 42
 *          |                       ^~~
 *     hint: did you mean 'ids'?
 *
 * Without a source name (at the prompt) file, line and column are omitted; without a source the excerpt too. */
void render_diag(struct strbuf *out, const struct diag *diag, const struct render_style *style);

#endif
