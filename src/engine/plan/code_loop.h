/* Loops inside of typed code.
 *
 * A loop is no block of its own: its body is what depends on its COUNTER or on one of its STATEs. So what does not
 * depend on them is computed once, before it, and equal parts of several loops are shared. The COUNTER runs from its
 * first to its last value; a round may begin only while the LOOP's condition holds; after a round every STATE becomes
 * its next value. FINAL is a STATE's value after the last round, or its first value if there was none. A float sum is a
 * mark on the CARRYs of four states, which say what is added to it: each backend adds in its own way.
 *
 * A FOLD is a loop with one result. The exact evaluator computes it as it stands; for backends it is lowered to a LOOP
 * (fold_lower.c). A fold of several indices is a FOLD of a FOLD that is marked `exact`: the inner one adds to the
 * values of the outer one.
 *
 * Loops have a level, which names their COUNTER and STATEs: it differs from those of the loops around it and within it.
 */
#ifndef RQL_ENGINE_PLAN_CODE_LOOP_H
#define RQL_ENGINE_PLAN_CODE_LOOP_H

#include "engine/plan/aggregates.h"
#include "engine/plan/code.h"

enum { LOOP_LEVELS = 32, LOOP_STATES = 1024 };

/* The states of a float sum: high, low, rest and weight (engine/values/compensated_sum.h). Adding a term to them takes
 * SUM_OPERATIONS. */
enum { SUM_PARTS = 4, SUM_OPERATIONS = 14 };

struct carry {
    value first, next;
    int part; /* 1 .. SUM_PARTS: of a float sum, to which a round adds `next`; 0: of none */
};

/* The number of the round of the loop of this level (0 .. LOOP_LEVELS-1), which runs from `first` to `last`, both
 * included: no rounds where `last` is less. */
value code_counter(struct code *code, int level, value first, value last, struct span span);

/* State `slot` of the loop of this level, as the body reads it: before it gets its next value. */
value code_state(struct code *code, int level, int64_t slot, enum kind kind, struct span span);

/* What the aggregate leaves as it is when it is joined with it; it also stands for a missing value. */
value aggregate_none(struct code *code, enum aggregate_kind kind, enum kind type, struct span span);

/* A FOLD of `body` over `index`, a COUNTER; `inner`: it is the body of a FOLD of another index, to whose values it adds
 * its own. The kind is that of the body; an argmin's, argmax's and count of rounds is int. */
value code_fold(struct code *code, enum aggregate_kind kind, value index, value body, bool inner, struct span span);

/* A loop of `count` states, the k-th of them code_state(level, k): carries[k] has its first value, which does not
 * depend on the loop, and its next one. `condition` is a bool that may read states and the index. */
value code_loop(struct code *code, value index, value condition, const struct carry *carries, size_t count,
                struct span span);

/* State `slot` after the last round of a LOOP. */
value code_final(struct code *code, value loop, int64_t slot, enum kind kind, struct span span);

/* The COUNTER of a LOOP or FOLD; and its states. `carries` has room for LOOP_STATES; returns how many there are, 0 for
 * a FOLD. */
value loop_index(const struct code *code, value loop);
size_t loop_carries(const struct code *code, value loop, struct carry *carries);

/* Whether its condition is always true. */
bool loop_is_counted(const struct code *code, value loop);

/* A level above those of all loops in the code. */
int code_free_level(const struct code *code);

/* The levels whose COUNTER or STATEs each value depends on, as a set of bits: 0 outside of loops. */
uint32_t *code_levels(const struct code *code, struct arena *arena);
/* The levels of value v, given those of all values before it in `levels`. */
uint32_t code_levels_of(const struct code *code, value v, const uint32_t *levels);

/* Whether the code has loops, folds among them. */
bool code_has_loops(const struct code *code);

/* Marks in `of` (count entries) the body of a LOOP or FOLD: what it is computed from that depends on its COUNTER or
 * STATEs. `levels` are those of code_levels. */
void loop_mark_body(const struct code *code, value loop, const uint32_t *levels, bool *of);

/* What a LOOP computes in its rounds, loops within it and the guards of its values included, and what that reads from
 * outside. */
struct loop_values {
    bool *body, *outer; /* of each value */
    struct carry *carries;
    size_t carry_count;
    value index;
};
void loop_find_values(const struct code *code, value loop, const uint32_t *levels, struct loop_values *values,
                      struct arena *arena);

/* The STATE of carry k, NO_VALUE if the body does not read it; and the lane that all its values fit in. */
value loop_state(const struct code *code, value loop, size_t k, const struct loop_values *values);
enum lane loop_state_lane(const struct code *code, value loop, size_t k, const struct loop_values *values);

/* If state k is an integer sum, the number (0 or 1) of the argument of its addition that is not the state itself; else
 * -1. */
int loop_term(const struct code *code, value loop, size_t k, const struct loop_values *values);

#endif
