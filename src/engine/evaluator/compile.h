/* The steps that compute a task's values, in the order that their arguments ask for. Private to program.c. */
#ifndef RQL_ENGINE_EVALUATOR_COMPILE_H
#define RQL_ENGINE_EVALUATOR_COMPILE_H

#include "engine/evaluator/program.h"

enum { LANES = LANE_F64 + 1 };

/* Values are computed for all rows of a block (filters), also for those but only if something failed (guards), and for
 * the rows that passed (body). A value may be computed in several of these. */
enum scope { SCOPE_FILTERS, SCOPE_GUARDS, SCOPE_BODY, SCOPE_COUNT };

struct builder {
    struct program *program;
    struct arena *arena;
    const struct task *task;
    const struct code *code;
    enum scope scope;
    bool ignore_failures;        /* in guards: what fails there is looked at elsewhere */
    reg *of[SCOPE_COUNT][LANES]; /* the vector of each value */
    reg *stored;                 /* of each INPUT, as it is stored */
    bool *wanted;
    int32_t *check_of; /* of each guard, in the scope at hand */
};

void steps_add(struct builder *b, struct step step);
reg steps_lane_vector(struct builder *b, enum lane lane);

/* Whether rows may have been picked where the steps run, and that they are: by a mask alone if `packs`, else by a list.
 */
bool steps_may_pick(const struct builder *b);
void steps_note_pick(struct builder *b, bool packs);

/* Emits what is marked as wanted and everything it is computed from, arguments first; forgets the marks. */
void steps_emit_wanted(struct builder *b);

/* The vector of a value in a lane, for the rows of the scope. Steps are added for what is only a matter of moving;
 * what it is computed from has been emitted before. */
reg steps_require(struct builder *b, value v, enum lane lane);

/* The vector of an INPUT as its column stores it. */
reg steps_stored(struct builder *b, value v);

/* The vector of a GATHER's elements as their column stores them, of that type. */
reg steps_gather(struct builder *b, value v, enum type type);

#endif
