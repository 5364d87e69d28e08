/* The program of a task: kernel templates filled with the task's code. */
#ifndef RQL_CL_CODEGEN_KERNEL_TEXT_H
#define RQL_CL_CODEGEN_KERNEL_TEXT_H

#include "base/strbuf.h"
#include "cl/codegen/kernel_plan.h"

/* Rows of a work-group's tile of this kernel, which is in tiles. */
size_t kernel_tile_rows(const struct kernel_plan *plan, enum kernel_role role);

/* Rows for which a work-group pays: of long code, which has one row in flight, one for each work-item. */
int64_t kernel_least_rows(const struct kernel_plan *plan);

/* Bytes of columns that a kernel reads of every row, kept or not. */
size_t kernel_row_bytes(const struct kernel_plan *plan, enum kernel_role role, struct arena *arena);

/* The program's text, in the arena. */
const char *kernel_plan_text(const struct kernel_plan *plan);

/* kernel_key.c: what the text of a plan's program is made from, as bytes: plans of equal keys have equal texts, and a
 * key takes a tenth of the time that a text takes. Unlike texts, keys contain literals. */

/* Appends the key, whose length is a multiple of 8. False, and nothing is appended, for plans without one: rounds of
 * loops, user functions. */
bool kernel_key(const struct kernel_plan *plan, struct strbuf *out);

#endif
