/* Neighbours beyond the ends of a shape: rows that others stand for.
 *
 * The number of the neighbour's row is ordinary typed code, which every backend can compute. NEAR, an operation around
 * it, says which neighbour it is of which row, so that a backend can copy runs of rows instead. */
#ifndef RQL_ENGINE_PLAN_BORDER_H
#define RQL_ENGINE_PLAN_BORDER_H

#include "engine/plan/code.h"

/* What stands beyond the ends of an axis a b c. */
enum border_kind {
    BORDER_WRAP,  /* a b c | a b c | a b c */
    BORDER_EDGE,  /* a a a | a b c | c c c */
    BORDER_MIRROR /* c b | a b c | b a: the last one is not repeated */
};

/* A neighbour of a row, at a distance along each axis of a shape: rows next to each other are next along the last. */
struct border {
    enum border_kind kind;
    size_t axes;
    const int64_t *extents; /* at least 1 each; the first one is not read: it is what the number of rows gives */
    const int64_t *distances;
};

/* The kind that a word of a query names, "wrap"; false if none. */
bool border_find(const char *name, enum border_kind *kind);

/* That word. */
const char *border_name(enum border_kind kind);

/* The index along an axis of `extent` >= 1 elements that stands for `index`, which may be outside of 0..extent - 1. */
int64_t border_index(enum border_kind kind, int64_t index, int64_t extent);

/* The number of the row that is the neighbour of row `row`, of `rows` rows. The border is kept. */
value border_position(struct code *code, const struct border *border, value row, value rows, struct span span);

/* The neighbour of which `position` is the number, if it is that of a task's own row: `*row` is added to the number of
 * that, and there are `*rows`, or as many as the task reads if -1. NULL: another position. */
const struct border *border_of_position(const struct code *code, value position, int64_t *row, int64_t *rows);

#endif
