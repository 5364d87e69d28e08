/* Typed code as OpenCL C: one statement per instruction, for one row.
 *
 * The text depends only on the shape of the code: operations, lanes, checks, storage types of inputs. Columns are
 * numbered by first use. Each use of a literal is a kernel argument, so queries that differ only in literals share a
 * program.
 *
 * Booleans are int masks, 0 or -1. */
#ifndef RQL_CL_CODEGEN_EMIT_H
#define RQL_CL_CODEGEN_EMIT_H

#include "cl/codegen/input_access.h"
#include "cl/codegen/live_roots.h"
#include "engine/plan/aggregates.h"
#include "engine/plan/code.h"

struct literal {
    value constant;
    bool divisor;   /* passed as a struct divisor or, in lane I64, as a struct long_divisor; */
    enum lane lane; /* else as int (also for booleans, as masks), long or double */
};

/* Which rounds of loops that are in no other a work-item computes (rows_terms.cl): all; all if they are few; its share.
 */
enum loop_terms { TERMS_ALL, TERMS_ALONE, TERMS_TOGETHER };

struct emitter {
    struct arena *arena;
    const struct task *task;
    const enum type *stores;   /* storage type of each input */
    bool *live;                /* values that the task computes, guards included */
    size_t operations;         /* number of those */
    int32_t *numbers;          /* of live values, in order: the 3 of "v3" */
    int32_t *columns;          /* column number of each input, -1 if not read */
    size_t *inputs;            /* input number of each column */
    enum input_access *access; /* of each column */
    size_t column_count;
    value *neighbours; /* INPUTs at an offset, which is a parameter, so all offsets share a program */
    size_t neighbour_count;
    bool total;             /* reads ROWS */
    bool function;          /* inputs are arguments, "x0" and "x1": user_function.h */
    int32_t (*operands)[3]; /* literal number of each argument or -1; of a neighbour its own number */
    int32_t *roots;         /* literal number of each root, or -1 */
    struct literal *literals;
    size_t literal_count;
    size_t first_literal; /* literals are numbered from here */
    bool aliased;         /* the kernel writes what it reads as an input */
    bool loops;           /* has LOOPs */
    enum loop_terms terms;
    bool checks; /* some operation is checked */
    bool floats; /* needs double */
};

/* Prepares to emit a task whose input k is stored as stores[k]. Literals are numbered from first_literal on. Returns
 * false if some operation has no OpenCL form. */
bool emitter_init(struct emitter *emitter, const struct task *task, const enum type *stores, size_t first_literal,
                  struct arena *arena);

/* Bytes of columns read per row: by a kernel, or by the values marked in `live` beyond those marked in `before`; an
 * input at several offsets counts once. `arena` is the caller's own: the emitter's belongs to the statement, and
 * several devices may run parts of it at once. */
size_t emit_row_bytes(const struct emitter *emitter, struct live_roots needs, struct arena *arena);
size_t emit_bytes_read(const struct emitter *emitter, const bool *live, const bool *before, struct arena *arena);

/* Appends statements that compute the needed values of row i and collect failures in `err1`. */
void emit_body(const struct emitter *emitter, struct strbuf *out, struct live_roots needs);

/* Where INPUTs are read: in their columns, or in the private arrays of row_block.cl at [j]. */
enum input_source { FROM_COLUMNS, FROM_LOADED };

/* The INPUT v in these arrays, as an expression in the arena. */
const char *emit_loaded(const struct emitter *emitter, value v);

/* As emit_body for the values marked; what they and their guards read must be marked or already computed. */
void emit_values(const struct emitter *emitter, struct strbuf *out, const bool *wanted, enum input_source from);

/* Appends the conjunction of conditions that are already computed, no constants, of one row. */
void emit_conditions(const struct emitter *emitter, struct strbuf *out, const value *conditions, size_t count);

/* Appends the declaration of "keep", the mask of all filters; call after emit_body with filters. */
void emit_keep(const struct emitter *emitter, struct strbuf *out);

/* An output or an aggregate, by number, as an expression in `lane`, in the arena. */
const char *emit_output(const struct emitter *emitter, size_t output, enum lane lane);
const char *emit_aggregate(const struct emitter *emitter, size_t aggregate, enum lane lane);

/* emit_input.c: values that a kernel reads: elements of columns, and row numbers. */

/* Append the statement that declares the value v of row i: an INPUT, a GATHER, whose failures are
 * declared too if it is checked, a ROW, a ROWS. */
void emit_input(const struct emitter *emitter, struct strbuf *out, value v, enum input_source from);
void emit_gather(const struct emitter *emitter, struct strbuf *out, value v);
void emit_row(const struct emitter *emitter, struct strbuf *out, value v);
void emit_rows(const struct emitter *emitter, struct strbuf *out, value v);

/* emit_loop.c: loops in OpenCL C: a `for` for each row. */

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

/* lanes.c: the OpenCL types of lanes, and constants in them. */

/* "int", "long" or "double". */
const char *lane_cl_type(enum lane lane);

/* What the aggregate leaves as it is when it is joined with it (engine/plan/aggregates.def). */
const char *aggregate_none_text(enum aggregate_kind kind, enum lane lane, struct arena *arena);

#endif
