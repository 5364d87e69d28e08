/* Emits the steps that compute a task's values, arguments first. */
#ifndef RQL_ENGINE_EVALUATOR_COMPILE_H
#define RQL_ENGINE_EVALUATOR_COMPILE_H

#include "engine/evaluator/program.h"

enum { LANES = LANE_F64 + 1 };

/* Filters are computed for all rows of a block, guards too but only if a checked operation failed, the body for the
 * rows that passed. A value may be computed in several scopes. */
enum scope { SCOPE_FILTERS, SCOPE_GUARDS, SCOPE_BODY, SCOPE_COUNT };

struct builder {
    struct program *program;
    struct arena *arena;
    const struct task *task;
    const struct code *code;
    enum scope scope;
    bool ignore_failures; /* in guards: those operations are checked where the filters or the body compute them */
    reg *of[SCOPE_COUNT][LANES]; /* the vector of each value */
    reg *stored;                 /* of each INPUT as stored */
    bool *wanted;
    const bool *read_once; /* values that a single operation reads */
    int32_t *check_of;     /* of each guard in the current scope */
    bool in_loop;          /* steps of a loop's round, which run on all rows of its vectors */
    const int32_t *arms;   /* of each value (arm.h); NULL: none are separate here */
};

void builder_add_step(struct builder *b, struct step step);
/* Adds one that moves a vector of a lane to one of another. */
void builder_add_move(struct builder *b, reg out, enum lane to, reg from, enum lane lane);
reg builder_lane_vector(struct builder *b, enum lane lane);

/* A vector of a constant or, of a float, its inverse. */
reg builder_add_constant(struct builder *b, value v, enum lane lane, bool inverse);
bool builder_is_constant(const struct code *code, value v);

/* Whether it divides floats by a constant power of two: multiplication by the inverse gives the same result, faster. */
bool builder_divides_by_power(const struct code *code, const struct instr *instr);

/* Whether the value has a vector, or the filters have one to select from. */
bool builder_is_computed(const struct builder *b, value v);

/* Whether a selection vector may be set in the current scope; notes that a step reads it, as a list unless `packs`. */
bool builder_selects(const struct builder *b);
void builder_note_selection(struct builder *b, bool packs);

/* Marks in b->wanted what the value is computed from. */
void builder_want_arguments(struct builder *b, value v);

/* Emits the values marked in `wanted` and all they are computed from, and clears the marks. */
void builder_emit_wanted(struct builder *b);

/* The vector of a value in a lane, in the current scope. The value has been emitted; a move to the lane is added where
 * needed. */
reg builder_vector(struct builder *b, value v, enum lane lane);

/* Emits the guards of the checks whose operations have been emitted since it was last called. */
void builder_emit_guards(struct builder *b);

/* A builder of the same program with vectors of its own. */
struct builder builder_of_loop(const struct builder *b);

/* Adds a value that the steps of `inside` read from outside. */
void builder_capture(struct builder *b, struct builder *inside, struct captures *captures, value v);

/* Calls `use` for each vector of captures, as arm_vectors and loop_vectors do. */
void captures_vectors(const struct captures *captures, void (*use)(void *context, reg vector, bool own), void *context);

/* Whether the value is an element of a column at the row or at its neighbour, so that rows are read in runs: an INPUT,
 * or a GATHER of a neighbour (engine/plan/border.h). */
bool builder_is_stored(const struct builder *b, value v);

/* The vector of such a value as its column stores it. */
reg builder_stored_vector(struct builder *b, value v);

/* The vector of a GATHER's elements, as values of `type`. */
reg builder_gather_vector(struct builder *b, value v, enum type type);

/* gather_order.c: GATHERs at positions in arithmetic progression: elements are copied in order, and no positions
 * computed. Measured, Xeon with two threads, 10^4 and 10^7 rows: a stencil 2.4 to 3.8 times as fast, rows in
 * reverse 1.7 to 2.0, every second row 1.5 to 1.6. */

/* Whether the value is such a GATHER: of neighbours, or with a constant stride. If so, sets `border` and `first`, or
 * `progression`, of the step. */
bool gather_order(const struct builder *b, value v, struct step *step);

/* float_pair.c: steps that compute two operations on floats (vector_float_pair): where only one operation reads the
 * result of another, that needs no vector. A diffusion of 1000^2 cells is 1.4 times as fast. */

/* Which argument of a value is computed in one step with it; -1: none. */
int float_pair_argument(const struct builder *b, value v);

/* Adds the step for a value and that argument. */
void float_pair_emit(struct builder *b, value v, int paired);

#endif
