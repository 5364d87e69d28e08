/* The shape of a relation's rows: how they are laid out along axes, in row-major order, so that the last axis runs
 * fastest. Row i's index along an axis is i / stride % extent. */
#ifndef RQL_ENGINE_STORAGE_SHAPE_H
#define RQL_ENGINE_STORAGE_SHAPE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_AXES = 8, AXES_UNKNOWN = -1 };

struct shape {
    int axes;                     /* 2..MOST_AXES; 0: no shape; AXES_UNKNOWN: known only when it runs, in checks */
    int64_t extents[MOST_AXES];   /* at least 1 each; their product is the number of rows */
    const char *names[MOST_AXES]; /* or NULL; owned by whatever has the shape. Those of an unknown shape are known */
};

/* The lines along one axis: rows that differ in its index alone. Row r of line l, r from 0 to length - 1, is row
 * (l / inner * length + r) * inner + l % inner of the relation. */
struct lines {
    int64_t outer, length, inner; /* products of the extents: before the axis, of the axis, after it */
};

/* Whether the rows have a shape, which is known. */
bool shape_is_set(const struct shape *shape);
/* Same axes, of the same extents and names. */
bool shape_equal(const struct shape *a, const struct shape *b);
/* Sets *axis to the number of the axis of this name, also of an unknown shape; false if there is none. */
bool shape_find(const struct shape *shape, const char *name, size_t *axis);
/* The lines along an axis of a known shape. */
struct lines shape_lines(const struct shape *shape, size_t axis);
/* The shape without an axis: none if a single one is left. */
struct shape shape_without(const struct shape *shape, size_t axis);
/* The same shape, with names in the arena. */
struct shape shape_copy(const struct shape *shape, struct arena *arena);
/* "3 by 4", "i 3 by j 4": for messages. */
const char *shape_text(const struct shape *shape, struct arena *arena);

#endif
