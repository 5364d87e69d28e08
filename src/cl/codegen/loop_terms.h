/* Loops whose rounds several work-items share: sums, which their parts add up to. */
#ifndef RQL_CL_CODEGEN_LOOP_TERMS_H
#define RQL_CL_CODEGEN_LOOP_TERMS_H

#include "cl/codegen/emit.h"
#include "cl/codegen/round_text.h"

#include "engine/plan/code_loop.h"

struct loop_sum {
    size_t state;   /* the first of its states */
    bool is_float;  /* of which it has four, as fold_lower.c makes them; an integer sum has one */
    value addition; /* of an integer sum: ADD */
    int term;       /* which of its arguments is the term */
};

struct loop_sums {
    struct loop_sum at[LOOP_STATES];
    size_t count;
};

/* Finds the sums that a LOOP consists of. Returns false if it has other states, or ends by a condition. */
bool loop_sums_find(const struct code *code, value loop, const uint32_t *levels, struct loop_sums *sums,
                    struct arena *arena);

/* Whether work-items share the terms of a task's rows. Of two loops, the later value holds. */
enum terms_shared {
    TERMS_NOT_SHARED,
    TERMS_OF_ALL_ROWS, /* rows_together.cl alone: a round has few rows, with the same long range */
    TERMS_OF_LONG_ROWS /* rows_terms.cl finds these: a range depends on data, or a round has few rows */
};

/* What pays, if nothing filters, or ends the rounds, and all loops that are in no other consist of sums. `round` or
 * NULL. */
enum terms_shared loops_share_terms(const struct emitter *emitter, const struct kernel_round *round);

/* More terms of a row than these are added up by several work-items of a group, or by all of them. The list of such
 * rows has some words before the rows. */
enum { MANY_TERMS = 64, VERY_MANY_TERMS = 4096, TERMS_LIST_BEGIN = 2 };

#endif
