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
#define AGGREGATE(kind, ...) AGG_##kind,
#include "engine/plan/aggregates.def"
    AGG_KINDS
};

/* How the values of a loop's rounds are folded. */
enum fold_form {
    FOLD_NONE,    /* they are not */
    FOLD_JOINED,  /* from a value that changes none on */
    FOLD_EXTREME, /* joined; there is none of no rounds */
    FOLD_PLACE,   /* the index of the best one */
    FOLD_TEST,    /* whether they hold */
    FOLD_ROUNDS   /* counted */
};

/* What it is taken of; nothing takes months, or what is always missing. */
enum aggregate_takes {
    TAKES_NUMBERS,  /* integers, floats and bools; sums also logical types that add */
    TAKES_DECIMALS, /* these and decimals */
    TAKES_TRUTHS,   /* bools and integers */
    TAKES_ALL
};

struct aggregate_info {
    const char *word;               /* in explain and errors; of extremes also in SQL, and in kernels */
    const char *op;                 /* of scan and reduce, as it is written; NULL: they do not take it */
    int64_t none;                   /* joined with any integer, it leaves that as it is, */
    double number_none;             /* and this any float */
    const char *integers, *numbers; /* how two of them are joined, a and b, in C and OpenCL C; NULL: they are not */
    enum aggregate_takes takes;
    bool sums;            /* of numbers, decimals and durations */
    bool extreme;         /* the least or largest, of all that has an order */
    bool bits;            /* of integers only */
    bool needs_rows;      /* there is none of no rows */
    bool operands;        /* it has operands beside its value (struct aggregate) */
    bool over;            /* of windows */
    bool along;           /* of the lines along an axis, as a group */
    enum fold_form folds; /* of the rounds of a loop: an OP_FOLD has it (code_loop.h) */
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
