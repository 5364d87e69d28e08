/* What the operators share: elements of columns as numbers, copies of columns, and the errors of an operator. */
#ifndef RQL_ENGINE_VECTOR_ELEMENTS_H
#define RQL_ENGINE_VECTOR_ELEMENTS_H

#include "base/parallel.h"
#include "engine/backend/backend.h"

/* Records that there is not enough memory. */
enum status operator_no_memory(const struct operator_job *job);

/* Records that error if `status` is STATUS_FAILED, and returns `status`: for functions that fail only for lack of
 * memory, without an error. */
enum status operator_report(const struct operator_job *job, enum status status);

enum { OPERATOR_BLOCK = 1024 }; /* the most values read or written at once */

union element_block {
    int64_t integers[OPERATOR_BLOCK];
    double numbers[OPERATOR_BLOCK];
};

/* Elements as int64_t or double. */
void operator_values(const struct column *column, int64_t row, int count, void *values);

/* Elements as above, without missing ones; returns their number. */
int operator_present_values(const struct column *column, int64_t row, int count, void *values);

/* Elements of the rows listed, as int64_t or double. */
void operator_values_at(const struct column *column, const uint64_t *rows, int count, void *values);

/* Prefetches rows of a column; they may be beyond its end. */
void operator_prefetch(const struct column *column, int64_t row, int count);

/* Writes integers that fit the column's store type. */
void operator_write_ints(struct column *column, int64_t row, const int64_t *values, int count);

/* The lane in which the column's elements are aggregated: LANE_I32, LANE_I64 or LANE_F64. */
enum lane axis_lane(const struct column *column);

/* `count` elements, at most BLOCK_ROWS, as values of that lane: in place, or converted into `space`. */
const void *axis_values(const struct column *column, enum lane lane, int64_t row, int count, void *space);

/* Copies the first `rows` rows of a column to another of the same store type, on all threads. */
void operator_copy(const struct workers *workers, const struct column *from, struct column *to, int64_t rows);

#endif
