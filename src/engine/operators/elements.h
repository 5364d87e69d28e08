/* What the operators share: elements of columns as numbers, copies of columns, and the errors of an operator. */
#ifndef RQL_ENGINE_OPERATORS_ELEMENTS_H
#define RQL_ENGINE_OPERATORS_ELEMENTS_H

#include "base/parallel.h"
#include "engine/backend/backend.h"

/* Records that there is not enough memory. */
enum status operator_no_memory(const struct operator_job *job);

/* What radix_sort says, said to the user. */
enum status operator_report(const struct operator_job *job, enum status status);

/* The column behind output k, or behind the value of an aggregate: breakers' code is bare inputs. */
const struct column *operator_input(const struct operator_job *job, value bare);

enum { OPERATOR_BLOCK = 1024 }; /* the most values read or written at once */

/* Elements as int64_t or double. */
void operator_values(const struct column *column, int64_t row, int count, void *values);

/* The same of the rows listed. */
void operator_values_at(const struct column *column, const uint64_t *rows, int count, void *values);

/* Has the machine bring rows of a column while those before them are worked on; `count` may be beyond the end. */
void operator_prefetch(const struct column *column, int64_t row, int count);

/* Integers as a column's elements, which hold them. */
void operator_write_ints(struct column *column, int64_t row, const int64_t *values, int count);

/* A type that the column's elements are, or are quickly made: of 32-bit integers, of 64-bit ones, or of floats. */
enum lane axis_lane(const struct column *column);

/* `count` elements, at most BLOCK_ROWS, as values of that lane: where they are, or made in `space`. */
const void *axis_values(const struct column *column, enum lane lane, int64_t row, int count, void *space);

/* Copies `rows` rows of one column to the start of another of the same store. */
void operator_copy(const struct workers *workers, const struct column *from, struct column *to, int64_t rows);

#endif
