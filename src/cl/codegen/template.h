/* Templates: text with $names in it. Kernel skeletons and the forms of operations are both written this way. */
#ifndef RQL_CL_CODEGEN_TEMPLATE_H
#define RQL_CL_CODEGEN_TEMPLATE_H

#include "base/strbuf.h"

struct part {
    const char *name; /* without the $; letters only */
    const char *text; /* NULL ends a list of parts */
};

/* Appends `template` with each $name replaced by the text of that part. A line that holds nothing but a name takes the
 * part's lines as they are, and disappears if it has none. A name that no part has stays, for the compiler to find. */
void template_expand(struct strbuf *out, const char *template, const struct part *parts);

#endif
