/* User functions of two values, for reduce and scan, each as an OpenCL function:
 *
 *     long fold0(long x0, long x1, LITERALS, int *err)
 *
 * Values are integers, or bools as 0 or 1. *err is set if an operation that matters has no result. */
#ifndef RQL_CL_CODEGEN_USER_FUNCTION_H
#define RQL_CL_CODEGEN_USER_FUNCTION_H

#include "cl/codegen/emit.h"

#include "engine/backend/user_reduce.h"

struct function {
    struct emitter emitter; /* of the body */
    size_t number;
};

/* Analyses the body of a function; literals are numbered from first_literal on. Returns false if it has no OpenCL form:
 * with floats the result depends on the order of rounding, and columns other than the two values cannot be passed. */
bool function_init(struct function *function, const struct user_reduce *reducer, size_t number, size_t first_literal,
                   struct arena *arena);

void function_emit(const struct function *function, struct strbuf *out);

/* Returns a call, in the arena; `err` is an int * in scope, such as "&err1". The literals are parameters of the
 * caller. */
const char *function_call(const struct function *function, const char *left, const char *right, const char *err);

#endif
