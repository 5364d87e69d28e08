/* Breakers, exactly: what they must know of all rows is found out, the rest stays lazy. Private to exact*.c. */
#ifndef RQL_ENGINE_EXACT_EXACT_OPERATOR_H
#define RQL_ENGINE_EXACT_EXACT_OPERATOR_H

#include "engine/exact/exact_lazy.h"

/* Finds out which rows the breaker's results are, of the rows it reads, and computes what it does not just carry. What
 * has no value there is only an error once it is read. */
enum status exact_break(struct exact *exact, struct lazy_task *lazy);

/* The error of reading such a value. */
enum status exact_operator_failure(struct exact *exact, const struct lazy_task *lazy, size_t k, int64_t row);

/* An input's values in all rows, as bool, i64 or f64; an error or NULL. */
enum status exact_column(struct exact *exact, struct lazy_task *lazy, size_t input, struct column **column);

/* Makes room for what output k is computed to be, and for whether it is. */
enum status exact_make_output(struct exact *exact, struct lazy_task *lazy, size_t k, int64_t rows);

/* Puts a value there: of no more than 64 bits, or it counts as failed. */
void exact_set_output(struct lazy_task *lazy, size_t k, int64_t row, const struct scalar *scalar, bool good);

/* The breaker's own stage, for errors. */
struct span exact_operator_span(const struct lazy_task *lazy);

/* Running values (exact_scan.c). */
enum status exact_scan(struct exact *exact, struct lazy_task *lazy);
enum status exact_scan_failure(struct exact *exact, const struct lazy_task *lazy, int64_t row);

#endif
