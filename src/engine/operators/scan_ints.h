/* The loops of scans of integers. Functions return whether a result does not fit in 64 bits. */
#ifndef RQL_ENGINE_OPERATORS_SCAN_INTS_H
#define RQL_ENGINE_OPERATORS_SCAN_INTS_H

#include "engine/plan/task.h"
#include "engine/storage/column.h"

/* Continues from `running`, the combination of the rows before. */
bool scan_ints(enum aggregate_kind kind, bool exclusive, int64_t *running, const int64_t *in, int64_t *out, int count);

/* Appends the combination of the rows that follow; of an associative operation, as is scan_ints_total. */
bool scan_ints_append(enum aggregate_kind kind, int64_t *running, int64_t next);

/* Sets *total to the combination of the rows, without an initial value; not of products or functions, which are not
 * combined in parts. */
bool scan_ints_total(const struct aggregate *aggregate, const struct code *code, const struct column *from,
                     int64_t begin, int64_t end, int64_t *total);

#endif
