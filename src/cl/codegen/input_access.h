/* How a row reads a column: its own element, its neighbours', or any. */
#ifndef RQL_CL_CODEGEN_INPUT_ACCESS_H
#define RQL_CL_CODEGEN_INPUT_ACCESS_H

#include "engine/plan/task.h"

struct emitter;

/* Parameters of a column besides the pointer to the element of its first row:
 *     ACCESS_ROW         none
 *     ACCESS_NEIGHBOURS  the elements that may be read, counted from there: lowN <= n < highN
 *     ACCESS_ANY         the pointer is to the first element of the column, highN is their number */
enum input_access { ACCESS_ROW, ACCESS_NEIGHBOURS, ACCESS_ANY };

/* Returns the least and greatest offset (at most and at least 0) at which rows begin .. end-1 of `count` read an input,
 * as far as those elements exist. */
void input_access_offsets(const struct emitter *emitter, size_t input, int64_t begin, int64_t end, int64_t count,
                          int64_t *least, int64_t *most);

/* The functions that a program has: of each access and type. */
struct access_functions {
    bool done[ACCESS_ANY + 1][TYPE_COUNT];
};

/* Append the functions that kernels call, the kernel parameters, and the statements that move pointers to the first
 * row. */
void input_access_functions(const struct emitter *emitter, struct strbuf *out, struct access_functions *functions);
void input_access_parameters(const struct emitter *emitter, struct strbuf *out);
void input_access_prologue(const struct emitter *emitter, struct strbuf *out);

/* The stored element that an INPUT reads, or a GATHER at `position` (a long): an expression in the arena. */
const char *input_access_element(const struct emitter *emitter, value v, const char *position);

#endif
