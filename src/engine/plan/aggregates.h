/* The aggregate functions, as a table for binder, help, completion and docs: called in `group` and in expressions of
 * rows, and most of them also stages that end a pipeline. */
#ifndef RQL_ENGINE_PLAN_AGGREGATES_H
#define RQL_ENGINE_PLAN_AGGREGATES_H

#include <stdbool.h>
#include <stddef.h>

enum aggregate_id {
    AGGREGATE_SUM,
    AGGREGATE_COUNT,
    AGGREGATE_MIN,
    AGGREGATE_MAX,
    AGGREGATE_MEAN,
    AGGREGATE_PRODUCT,
    AGGREGATE_MEDIAN,
    AGGREGATE_QUANTILE,
    AGGREGATE_STDDEV,
    AGGREGATE_VAR,
    AGGREGATE_CORR,
    AGGREGATE_WMEAN,
    AGGREGATE_FIRST,
    AGGREGATE_LAST,
    AGGREGATE_DISTINCT,
    AGGREGATE_ANY,
    AGGREGATE_ALL,
    AGGREGATE_ARGMIN,
    AGGREGATE_ARGMAX
};

struct aggregate_function {
    const char *name;
    const char *canonical; /* the name in help and of columns; equals `name` unless this is an alias */
    enum aggregate_id id;
    size_t least, most;  /* arguments */
    const char *usage;   /* "quantile(p, x)"; NULL for an alias */
    const char *summary; /* one line */
    const char *example; /* a pipeline on the sample data */
};

/* All rows, in the order of help. */
extern const struct aggregate_function aggregate_functions[];
extern const size_t aggregate_function_count;

/* The row of exactly this name, or NULL. */
const struct aggregate_function *aggregate_find(const char *name);

/* Whether a call with so many arguments is one of the aggregate: min and max of several are functions of a row. */
bool aggregate_is_call(const struct aggregate_function *function, size_t arguments);

#endif
