/* Values that a kernel reads: elements of columns, and row numbers. */
#ifndef RQL_CL_CODEGEN_EMIT_INPUT_H
#define RQL_CL_CODEGEN_EMIT_INPUT_H

#include "cl/codegen/emit.h"

/* Append the statement that declares the value v of row i: an INPUT, a GATHER, whose failures are
 * declared too if it is checked, a ROW, a ROWS. */
void emit_input(const struct emitter *emitter, struct strbuf *out, value v, enum input_source from);
void emit_gather(const struct emitter *emitter, struct strbuf *out, value v);
void emit_row(const struct emitter *emitter, struct strbuf *out, value v);
void emit_rows(const struct emitter *emitter, struct strbuf *out, value v);

#endif
