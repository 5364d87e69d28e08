/* Rows in the order of some columns, for the operators of the exact evaluator. */
#ifndef RQL_ENGINE_EXACT_EXACT_SORT_H
#define RQL_ENGINE_EXACT_EXACT_SORT_H

#include "engine/exact/exact_lazy.h"

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
