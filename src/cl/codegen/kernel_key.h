/* What the text of a plan's program is made from, as bytes: plans of equal keys have equal texts, and a key takes a
 * tenth of the time that a text takes. Unlike texts, keys contain literals. */
#ifndef RQL_CL_CODEGEN_KERNEL_KEY_H
#define RQL_CL_CODEGEN_KERNEL_KEY_H

#include "cl/codegen/kernel_plan.h"

#include "base/strbuf.h"

/* Appends the key, whose length is a multiple of 8. False, and nothing is appended, for plans without one: rounds of
 * loops, user functions. */
bool kernel_key(const struct kernel_plan *plan, struct strbuf *out);

#endif
