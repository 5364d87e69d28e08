/* Aggregates: one enum, and one table with what each of them is.
 *
 * Whatever aggregates, of rows, groups, windows or rounds of a loop, on the host or on a device, has this enum and asks
 * the table. The functions that a query calls are a second table: binder, help, completion and docs read it. */
#ifndef RQL_ENGINE_PLAN_AGGREGATES_H
#define RQL_ENGINE_PLAN_AGGREGATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum aggregate_kind {
    AGG_COUNT,
    AGG_SUM, /* of integers or floats: exact, or correctly rounded */
    AGG_PRODUCT,
    AGG_MIN,
    AGG_MAX,
    AGG_MEAN,
    AGG_BITAND,
    AGG_XOR,
    AGG_BITOR,
    AGG_FOLD,     /* the user's own associative function, in the order of rows */
    AGG_QUANTILE, /* of groups only, as are the following */
    AGG_VAR,      /* the variance of a sample; 0 of one value */
    AGG_CORR,     /* Pearson's correlation of two values; 0 of one pair */
    AGG_DISTINCT, /* how many different values there are; of groups that are bound for a server */
    AGG_FIRST,    /* of windows; of groups the first row's number */
    AGG_LAST,
    AGG_LEADING, /* of windows: whether the value is among the `leading` largest, or smallest, of its group, or equals
                    the last of them; missing values are behind all others */
    AGG_ANY,     /* of rounds: ends with the first that decides, as AGG_ALL does */
    AGG_ALL,
    AGG_ARGMIN, /* of rounds: the index of the first smallest value */
    AGG_ARGMAX,
    AGG_ROUNDS, /* how many rounds there are; fails if there are none */
    AGG_MEDIAN, /* these are only made of others (engine/lower/aggregate_functions.h) */
    AGG_STDDEV,
    AGG_WMEAN
};
enum { AGG_KINDS = AGG_WMEAN + 1 };

struct aggregate_info {
    const char *word;   /* in explain and errors */
    const char *op;     /* of scan and reduce, as it is written; NULL: they do not take it */
    int64_t none;       /* joined with any integer, it leaves that as it is, */
    double number_none; /* and this any float */
    bool sums;          /* of numbers, decimals and durations */
    bool extreme;       /* the least or largest, of all that has an order */
    bool bits;          /* of integers only */
    bool needs_rows;    /* there is none of no rows */
    bool operands;      /* it has operands beside its value (struct aggregate) */
    bool over;          /* of windows */
    bool along;         /* of the lines along an axis, as a group */
    bool folds;         /* of the rounds of a loop: an OP_FOLD has it (code_loop.h) */
};
extern const struct aggregate_info aggregate_table[AGG_KINDS];

/* A function that a query calls, in `group` and in expressions of rows; most of them are also stages that end a
 * pipeline. */
struct aggregate_function {
    const char *name;
    const char *canonical; /* the name in help and of columns; equals `name` unless this is an alias */
    enum aggregate_kind kind;
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
