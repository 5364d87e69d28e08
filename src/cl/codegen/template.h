/* Templates: text with named holes, `$name`. Kernels (cl/kernels) and the forms of operations are templates.
 *
 * Line by line:
 *   $name on a line of its own   the lines of that part, or no line if it is empty
 *   ... $name ...                the text of the part in place; a name that no part has stays
 *   $if name, $else, $end        the lines between only if the part is not empty (or only if it is); they nest
 *   /// ...                      a comment for readers of the template, left out
 * The text of a part is a template itself, expanded with the same parts. */
#ifndef RQL_CL_CODEGEN_TEMPLATE_H
#define RQL_CL_CODEGEN_TEMPLATE_H

#include "base/arena.h"
#include "base/strbuf.h"

struct part {
    const char *name; /* without the $; letters only */
    const char *text; /* NULL ends a list of parts */
};

/* Appends `template` expanded with `parts`. */
void template_expand(struct strbuf *out, const char *template, const struct part *parts);

/* Moves a text to the arena: frees the buffer. */
const char *text_in_arena(struct arena *arena, struct strbuf *text);

#endif
