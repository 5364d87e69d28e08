/* Errors and notes as text for the user. */
#ifndef RQL_REPL_PRINT_RENDER_DIAG_H
#define RQL_REPL_PRINT_RENDER_DIAG_H

#include "base/diag.h"
#include "base/strbuf.h"

struct render_style {
    bool colour;  /* terminal escapes are welcome */
    size_t width; /* cells in a line: source lines that are longer are cut around the place */
    bool fold;    /* a person reads it: hints are folded between words, too */
};

/* Appends a record in the form that editors and people know:
 *
 *     query.rql:3:14: error: no column named 'idz'
 *        3 | load ids.bin | select idz == 42
 *          |                       ^~~
 *     hint: did you mean 'ids'?
 *
 * A source without a name (the prompt's) leaves out file, line and column; a span without source the text too. */
void render_diag(struct strbuf *out, const struct diag *diag, const struct render_style *style);

#endif
