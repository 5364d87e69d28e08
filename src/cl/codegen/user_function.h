/* The user's own functions of two values, as reduce and scan combine with them: an OpenCL function each.
 *
 *     long fold0(long x0, long x1, LITERALS, int *err)
 *
 * Values are integers or bools, which are 0 or 1 outside of it. *err is set if some operation that matters has no
 * result. */
#ifndef RQL_CL_CODEGEN_USER_FUNCTION_H
#define RQL_CL_CODEGEN_USER_FUNCTION_H

#include "cl/codegen/emit.h"

#include "engine/backend/user_reduce.h"

struct function {
    struct emitter emitter; /* of the body */
    size_t number;
};

/* Prepares a function, analysing its body; literals are numbered from first_literal on. False if it has no OpenCL form:
 * of floats it depends on rounding in what order it combines, and of whole columns it would have to be passed those. */
bool function_init(struct function *function, const struct user_reduce *reducer, size_t number, size_t first_literal,
                   struct arena *arena);

void function_emit(const struct function *function, struct strbuf *out);

/* A call, in the arena; `err` is an int * in scope, such as "&err1". The literals are parameters of the caller. */
const char *function_call(const struct function *function, const char *left, const char *right, const char *err);

#endif
