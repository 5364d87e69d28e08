/* Typed code as OpenCL C: one statement an instruction, at any vector width.
 *
 * The text depends only on the code's shape: operations, lanes, checks, how inputs are stored. Columns are numbered by
 * first use. A literal becomes a kernel argument, one for each place that reads it, so that two queries which differ
 * in literals alone, equal ones or not, have the same text.
 *
 * Booleans are int masks, 0 or -1, at every width. */
#ifndef RQL_CL_CODEGEN_EMIT_H
#define RQL_CL_CODEGEN_EMIT_H

#include "cl/codegen/input_access.h"
#include "cl/codegen/live_roots.h"

struct literal {
    value constant;
    bool divisor;   /* passed as a struct divisor or, in lane I64, as a struct long_divisor; */
    enum lane lane; /* else as int (also for booleans, as masks), long or double */
};

struct emitter {
    struct arena *arena;
    const struct task *task;
    const enum type *stores;   /* of each of the task's inputs */
    bool *live;                /* what the task computes, guards included */
    size_t operations;         /* how much that is */
    int32_t *numbers;          /* of live values, in order: the 3 of "v3" */
    int32_t *columns;          /* column number of each input, -1 if not read */
    size_t *inputs;            /* input number of each column */
    enum input_access *access; /* of each column */
    size_t column_count;
    value *neighbours; /* INPUTs at an offset; their offsets are parameters: another one is the same program */
    size_t neighbour_count;
    bool total;             /* reads ROWS */
    bool function;          /* inputs are arguments, "x0" and "x1": user_function.h */
    int32_t (*operands)[3]; /* literal number of an instruction's argument, -1 if it is none; of a neighbour its own
                               number */
    int32_t *roots;         /* literal number of each root (see emit_root) */
    struct literal *literals;
    size_t literal_count;
    size_t first_literal; /* their numbers begin here */
    bool checks;          /* some operation may raise the flag */
    bool floats;          /* needs double */
};

/* Prepares for a task whose input k is laid out as stores[k]; false if it has an operation that has no OpenCL form.
 * Literals are numbered from first_literal on. */
bool emitter_init(struct emitter *emitter, const struct task *task, const enum type *stores, size_t first_literal,
                  struct arena *arena);

/* The bytes of a row's columns that a kernel reads; that marked values read and those marked in `before` have not:
 * neighbours share what they read. `arena` is the caller's own: the emitter's is the statement's, of which several
 * devices may run a part at once. */
size_t emit_row_bytes(const struct emitter *emitter, struct live_roots needs, struct arena *arena);
size_t emit_bytes_read(const struct emitter *emitter, const bool *live, const bool *before, struct arena *arena);

/* Statements that compute, for rows i .. i+width-1, what is needed, and collect failures in `errW`. */
void emit_body(const struct emitter *emitter, struct strbuf *out, int width, struct live_roots needs);

/* Where INPUTs are read: in their columns, or where rows under way have been fetched to, the j-th of them here. */
enum input_source { FROM_COLUMNS, FROM_LOADED };

const char *emit_loaded(const struct emitter *emitter, value v);

/* As emit_body for some values; what they and their guards read must be among them, or stand before them. */
void emit_values(const struct emitter *emitter, struct strbuf *out, int width, const bool *wanted,
                 enum input_source from);

/* Conditions that have been computed, no constants, as one mask for a row. */
void emit_conditions(const struct emitter *emitter, struct strbuf *out, const value *conditions, size_t count);

/* "keep", the mask of all filters; call after emit_body with filters. */
void emit_keep(const struct emitter *emitter, struct strbuf *out, int width);

/* A value as an expression in this lane, in the arena: for outputs (0..) or aggregates (0..), by number. */
const char *emit_output(const struct emitter *emitter, size_t output, enum lane lane, int width);
const char *emit_aggregate(const struct emitter *emitter, size_t aggregate, enum lane lane, int width);

#endif
