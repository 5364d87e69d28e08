/* Operators, exactly: finds what depends on all rows; the rest stays lazy. */
#ifndef RQL_ENGINE_EXACT_EXACT_OPERATOR_H
#define RQL_ENGINE_EXACT_EXACT_OPERATOR_H

#include "engine/exact/exact_lazy.h"

/* Finds the rows that become the operator's result rows, and computes the outputs that are not rows of its inputs. A
 * value that cannot be computed is an error only when it is read. */
enum status exact_run_operator(struct exact *exact, struct lazy_task *lazy);

/* The error of reading such a value. */
enum status exact_operator_failure(struct exact *exact, struct lazy_task *lazy, size_t k, int64_t row);

/* An input's values in all rows, as bool, i64 or f64; the caller's reference. On an error NULL or a partial column. */
enum status exact_column(struct exact *exact, struct lazy_task *lazy, size_t input, struct column **column);

/* The columns of all keys of the task's operator, each once, in inputs[], which is NULL elsewhere. The caller releases
 * those that were read, even if one fails. */
enum status exact_key_columns(struct exact *exact, struct lazy_task *lazy, struct column **inputs);

/* Reserves output k's values and states for `rows` rows. */
enum status exact_reserve_output(struct exact *exact, struct lazy_task *lazy, size_t k, int64_t rows);

/* Sets a value; it counts as failed if `good` is false or it does not fit 64 bits. */
void exact_set_output(struct lazy_task *lazy, size_t k, int64_t row, const struct scalar *scalar, bool good);

/* The operator's own stage, for errors. */
struct span exact_operator_span(const struct lazy_task *lazy);

/* Groups (exact_group.c). */
enum status exact_group(struct exact *exact, struct lazy_task *lazy);
enum status exact_ids(struct exact *exact, struct lazy_task *lazy);
enum status exact_group_failure(struct exact *exact, struct lazy_task *lazy, size_t k, int64_t group);

/* Scans (exact_scan.c). */
enum status exact_scan(struct exact *exact, struct lazy_task *lazy);
enum status exact_scan_failure(struct exact *exact, const struct lazy_task *lazy, int64_t row);

/* Rows combined by a user's function (exact_combine.c). */
enum status exact_combine(struct exact *exact, struct lazy_task *lazy);
enum status exact_combine_failure(const struct exact *exact, const struct lazy_task *lazy);

/* exact_sort.c: rows in the order of some columns, for the operators of the exact evaluator. */

/* The columns by which rows are compared. */
struct order {
    struct column **keys;
    const bool *descending; /* NULL: none */
    size_t count;
};

/* NaN is last in either direction, and equals itself. */
int exact_compare_floats(double a, double b, bool descending);

/* Reads the order's keys from the task's inputs; call exact_release_keys in any case, unless there are none. */
enum status exact_read_keys(struct exact *exact, struct lazy_task *lazy, const size_t *inputs, struct order *order);
void exact_release_keys(const struct order *order);

int exact_compare_rows(const struct order *order, int64_t a, int64_t b);

/* A column of the row numbers in order; stable. */
enum status exact_sort_rows(struct exact *exact, const struct lazy_task *lazy, const struct order *order,
                            struct column **sorted);

#endif
