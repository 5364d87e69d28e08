/* Sums of many short runs of floats, as those of the terms that each row of a ragged loop has. */
#ifndef RQL_ENGINE_VECTOR_RUN_SUM_H
#define RQL_ENGINE_VECTOR_RUN_SUM_H

#include <stdint.h>

enum { RUN_SUM_TERMS = 1 << 11 }; /* at most at once */

/* Adds the terms of `runs` runs, each of which ends at ends[r], to the compensated sums of rows[r], which increase:
 * states[k][rows[r]] is high, low, rest or weight (compensated_sum.h). */
void run_sums_add(double *const states[4], const double *terms, const uint16_t *rows, const uint16_t *ends, int runs);

#endif
