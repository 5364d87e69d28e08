/* Literals as kernel arguments. */
#ifndef RQL_CL_CODEGEN_LITERAL_H
#define RQL_CL_CODEGEN_LITERAL_H

#include "cl/codegen/emit.h"

#include "engine/values/const_divide.h"

union literal_argument {
    int32_t narrow; /* and masks */
    int64_t wide;
    double number;
    struct divisor divisor;
    struct long_divisor long_divisor;
};

/* Appends the parameters, each line ending in a comma. */
void literal_parameters(const struct emitter *emitter, struct strbuf *out);

/* Returns the argument of a literal, and its size in *bytes. */
union literal_argument literal_argument(const struct emitter *emitter, const struct literal *literal, size_t *bytes);

#endif
