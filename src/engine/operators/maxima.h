/* Maxima of blocks of integers, of blocks of these, and so on: finds the next element above a limit without reading
 * those between. */
#ifndef RQL_ENGINE_OPERATORS_MAXIMA_H
#define RQL_ENGINE_OPERATORS_MAXIMA_H

#include "engine/storage/column.h"

enum { MAXIMA_BITS = 4, MAXIMA_LEVELS = 9 }; /* 16^8 elements are enough */

struct maxima {
    int64_t *at[MAXIMA_LEVELS]; /* 0: the elements; k + 1: of each 16 of level k */
    int levels;
    size_t bytes;
};

/* False: not enough memory. */
bool maxima_init(struct maxima *maxima, const struct column *elements);
void maxima_release(struct maxima *maxima);

/* The first of the places begin .. end - 1 whose element is at least `least`; `end`: there is none. */
int64_t maxima_next(const struct maxima *maxima, int64_t begin, int64_t end, int64_t least);

#endif
