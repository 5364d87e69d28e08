/* Quantiles of a group, of which the server sorts all values (engine/values/quantile.h); floats in ClickHouse's
 * words alone. */
#ifndef RQL_SQL_LOWER_LOWER_QUANTILE_H
#define RQL_SQL_LOWER_LOWER_QUANTILE_H

#include "engine/plan/task.h"
#include "sql/lower/dialect.h"

/* The values `v`, floats if `number`, of the rows where the condition holds (NULL: of all), as a sorted array. NULL: it
 * would be too long, or the dialect has no equivalent. */
const char *quantile_values(const struct sql_dialect *dialect, const char *v, const char *where, bool number,
                            struct arena *arena);

/* The quantile, of the column that is such an array. */
const char *quantile_of(const char *sorted, const struct aggregate *aggregate, bool number,
                        const struct sql_dialect *dialect, struct arena *arena);

#endif
