/* Loops in OpenCL C: a `for` for each row. */
#ifndef RQL_CL_CODEGEN_EMIT_LOOP_H
#define RQL_CL_CODEGEN_EMIT_LOOP_H

#include "cl/codegen/emit.h"

/* Where statements are, and which of the values marked. */
struct statements {
    enum input_source from;
    const uint32_t *levels; /* of each value, where there are loops (engine/plan/code_loop.h); else NULL */
    uint32_t within;        /* only values that depend on no other levels than these: those of the loops around */
};

/* Appends a LOOP and, after it, one of its FINALs. */
void emit_loop(const struct emitter *emitter, struct strbuf *out, value loop, const struct statements *of);
void emit_final(const struct emitter *emitter, struct strbuf *out, value final);

/* In emit.c: the statements of values marked, with their failures; argument k of an instruction in a lane. */
void emit_statements(const struct emitter *emitter, struct strbuf *out, const bool *wanted,
                     const struct statements *of);
const char *emit_argument(const struct emitter *emitter, value v, int k, enum lane lane);

#endif
