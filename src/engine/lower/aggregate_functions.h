/* How each aggregate function is made of partials: sums, counts, extremes and quantiles of one or two passes over the
 * rows, and what is computed of them. */
#ifndef RQL_ENGINE_LOWER_AGGREGATE_FUNCTIONS_H
#define RQL_ENGINE_LOWER_AGGREGATE_FUNCTIONS_H

#include "engine/lower/aggregate_pass.h"

enum { MOST_PARTIALS = 5, MOST_BETWEEN = 3 };

/* A call of an aggregate while it is lowered. */
struct aggregate_call {
    const struct expr *expr;
    const struct aggregate_function *function;
    size_t level;                  /* how deep calls are nested in its arguments */
    bool known;                    /* its arguments are bound, and fit */
    bool plain;                    /* its value is partial 0 as it is */
    bool lacks;                    /* there may be nothing to aggregate: partial 1 counts the values */
    bool summed;                   /* a mean: partial 0 is the sum, */
    bool halved;                   /* and partial 2 that of the low halves of integers */
    bool partly;                   /* partial 2 tells whether there is a value */
    bool truth;                    /* partial 0 is 1 or 0 for a bool */
    struct slot slot;              /* of the value; its name is only for listings */
    const struct pass *pass;       /* of `partial` */
    size_t partial[MOST_PARTIALS]; /* of the first pass */
    size_t again[MOST_PARTIALS];   /* of the second */
    size_t between[MOST_BETWEEN];  /* columns of the relation between them */
    struct flow at;                /* the relation with the column that an element is taken of, */
    size_t at_column;
    struct pass coarser; /* over finer groups: of different values */
};

/* The passes for the calls of a stage. */
struct lowering {
    const struct aggregation *of;
    struct pass first, second;
    const struct flow *between; /* a row for each group: what the second pass reads of the first */
};

struct aggregate_recipe {
    /* Binds the arguments and adds the partials of the first pass. */
    void (*begin)(struct lowering *lowering, struct aggregate_call *call);
    /* What the second pass reads, at most MOST_BETWEEN terms; returns their number. NULL: one pass is enough. */
    size_t (*between)(struct reader *reader, const struct aggregate_call *call, struct term *terms);
    /* Adds the partials of the second pass. */
    void (*again)(struct lowering *lowering, struct aggregate_call *call);
    /* The value of a call that is known and not plain. `second`: the second pass. */
    struct term (*finish)(struct reader *reader, const struct aggregate_call *call, const struct pass *second);
    bool by_ids; /* it reads the numbers of rows' groups */
};

/* aggregate_functions.c: partials that several functions have. */

/* Binds argument k, for an aggregate of this kind, in the first pass. */
struct term aggregate_argument(struct lowering *lowering, struct aggregate_call *call, enum aggregate_kind kind,
                               size_t k);
/* The least or greatest value. */
void add_extreme(struct lowering *lowering, struct aggregate_call *call, enum aggregate_kind kind, struct term term);
/* Adds the partial that counts the values, if there may be none. */
void aggregate_count_values(struct lowering *lowering, struct aggregate_call *call, struct term term);
/* Whether partial 1 counts something; NO_VALUE: it always does. */
value any_counted(struct reader *reader, const struct aggregate_call *call);
/* Finds the column that argument k is: the flow's own, or that of a task that computes it. */
void find_elements(struct lowering *lowering, struct aggregate_call *call, size_t k);
/* Its element at a row. */
struct term element_at(struct reader *reader, const struct aggregate_call *call, value row);

/* aggregate_moments.c: aggregates of two passes, or of two columns. */
extern const struct aggregate_recipe recipe_wmean, recipe_var, recipe_argmin;

/* aggregate_distinct.c */
extern const struct aggregate_recipe recipe_distinct, recipe_mode;

/* aggregate_list.c */
extern const struct aggregate_recipe recipe_list;

const struct aggregate_recipe *aggregate_recipe_of(const struct aggregate_function *function);
/* aggregate_remote.c: of a call that a server is to compute; NULL: as elsewhere. */
const struct aggregate_recipe *aggregate_recipe_remote(const struct aggregate_call *call);

/* Whether the aggregate has a meaning for values of this class. */
bool aggregate_takes(enum aggregate_kind kind, enum term_class which, enum logical logical);
/* Checks that the aggregate `what` fits the term's type, and makes it a column: of numbers, or bools for an extreme,
 * which is one of them. `expr`: as written, or NULL. */
bool bind_aggregated(struct scope *scope, enum aggregate_kind kind, struct term *term, const struct expr *expr,
                     const char *what, struct span span);

/* The operand as written or, if it is a column by its place or `expr` is NULL, that column's name: for messages. */
const char *operand_shown(const struct scope *scope, const struct expr *expr, struct span span);

/* A share, a constant from 0 to 1. False after an error. */
bool bind_share(struct binder *binder, const struct expr *expr, const char *hint, double *share);
extern const char quantile_hint[];

/* The value, or where there is none what the aggregate leaves as it is. */
value aggregate_settled(struct code *code, enum aggregate_kind kind, struct term term, struct span span);

/* The rows that count(term) counts: those where a condition holds, or where there is a value; NO_VALUE: all. */
value counted_rows(struct scope *scope, struct term term, struct span span);

/* The mean of decimals or durations, from that of their integers. */
struct term term_of_mean(struct code *code, struct term term, struct logical_type logical, struct span span);

/* A nameless column of the aggregate of the term. A mean's has the term's logical type, but floats. */
struct slot slot_of_aggregate(const struct scope *scope, enum aggregate_kind kind, struct term term);

/* The type of the aggregate's result. */
enum type type_of_aggregate(enum aggregate_kind aggregate, enum kind kind);

#endif
