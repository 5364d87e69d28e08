/* Elements that a row reads of columns: its own, its neighbours', or any. */
#ifndef RQL_CL_CODEGEN_INPUT_ACCESS_H
#define RQL_CL_CODEGEN_INPUT_ACCESS_H

#include "engine/plan/task.h"

struct emitter;

/* What a kernel has for a column besides the pointer to the element of its first row:
 *   ACCESS_ROW   nothing;
 *   ACCESS_NEIGHBOURS  between which elements, counted from there, it may read: lowN <= n < highN;
 *   ACCESS_ANY the pointer is to the column's first element; highN is how many there are. */
enum input_access { ACCESS_ROW, ACCESS_NEIGHBOURS, ACCESS_ANY };

/* The farthest of the offsets at which a task reads an input, one of them 0, of those that access the rows begin ..
 * end-1 of `count` at all. */
void input_access_offsets(const struct emitter *emitter, size_t input, int64_t begin, int64_t end, int64_t count,
                          int64_t *least, int64_t *most);

/* Functions that the kernels call; the kernels' parameters; what brings pointers to the first row. */
void input_access_functions(const struct emitter *emitter, struct strbuf *out, int width);
void input_access_parameters(const struct emitter *emitter, struct strbuf *out);
void input_access_prologue(const struct emitter *emitter, struct strbuf *out);

/* The element that an INPUT reads, or a GATHER at `position` (a long), as it is stored: an expression in the arena. */
const char *input_access_element(const struct emitter *emitter, value v, const char *position, int width);

#endif
