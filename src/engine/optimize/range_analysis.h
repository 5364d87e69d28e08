/* Value ranges: which machine type each value needs and which operations could fail.
 *
 * Intervals start from the columns (their type's range, or the tighter known one, both rounded up to 8, 16, 32 or 64
 * bit classes so that other data of the same kind gives the same program) and from literals (rounded up to the same
 * classes, keeping sign and zeroness, so that another literal gives the same program), and flow through the code. */
#ifndef RQL_ENGINE_OPTIMIZE_RANGE_ANALYSIS_H
#define RQL_ENGINE_OPTIMIZE_RANGE_ANALYSIS_H

#include "engine/plan/task.h"

/* Fills in lane, checked, lo and hi of every instruction of the task. `columns` are the task's inputs in order;
 * `rows` the number of rows it will read. */
void range_analyse(struct task *task, struct column *const *columns, int64_t rows);

/* How an output's value is best stored: its column's own type for a bare input of that type, else the narrowest of i32
 * and i64 that its range allows (bool, f64 for those kinds). */
enum type range_store(const struct task *task, const struct output *output, struct column *const *columns);

#endif
