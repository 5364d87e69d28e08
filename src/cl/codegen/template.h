/* Templates: text with named holes, `$name`. Kernels (cl/kernels) and the forms of operations are templates.
 *
 * Line by line:
 *   $name on a line of its own   the lines of that text, or no line if it is empty
 *   ... $name ...                the text in place; a name without a text stays
 *   $if name, $else, $end        the lines between only if the text is not empty (or only if it is); they nest
 *   /// ...                      a comment for readers of the template, left out
 * The text for a hole is a template itself, expanded with the same holes. */
#ifndef RQL_CL_CODEGEN_TEMPLATE_H
#define RQL_CL_CODEGEN_TEMPLATE_H

#include "base/arena.h"
#include "base/strbuf.h"

struct hole {
    const char *name; /* without the $; letters only */
    const char *text; /* what fills it; NULL ends a list of holes */
};

/* Appends `template` expanded with `holes`. */
void template_expand(struct strbuf *out, const char *template, const struct hole *holes);

/* Appends the function of kernels/work_group_sums.cl for groups of `group` work-items: sums of this type. */
void template_work_group_sums(struct strbuf *out, size_t group, const char *sum, struct arena *arena);

/* Moves a text to the arena: frees the buffer. */
const char *text_in_arena(struct arena *arena, struct strbuf *text);

#endif
