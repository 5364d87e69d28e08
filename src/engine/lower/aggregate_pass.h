/* One pass over the rows: the partials of aggregates that one operator, or one aggregating task, computes. */
#ifndef RQL_ENGINE_LOWER_AGGREGATE_PASS_H
#define RQL_ENGINE_LOWER_AGGREGATE_PASS_H

#include "engine/lower/lower.h"

/* What is aggregated. */
struct aggregation {
    struct binder *binder;
    const struct stage *stage;
    const struct flow *flow;
    const struct item *keys; /* groups by these expressions, */
    size_t key_count;
    bool by_ids; /* or by column `ids` of the flow */
    size_t ids;
};

struct partial {
    struct aggregate what;
    size_t operand; /* its values, if has_values; not of AGG_COUNT */
    size_t where;   /* the operand that says which rows count, if has_where */
    size_t other;   /* the operand that is its second value, if has_other */
    bool has_values, has_where, has_other;
    struct slot slot;
};

struct pass {
    const struct aggregation *of;
    struct operands operands;
    struct key_operands *keys;
    size_t *key_operands; /* with the hidden ones */
    size_t key_columns, key_capacity;
    struct partial *partials;
    size_t count, capacity;
    struct flow flow; /* after pass_end: the keys' columns, then those of the partials */
};

/* Begins with the keys as operands. */
void pass_begin(struct pass *pass, const struct aggregation *of);

/* Groups by an operand as well. */
void pass_add_key(struct pass *pass, size_t operand);
/* Groups by a column of the flow, which is never missing, as well. */
void pass_group_by(struct pass *pass, size_t column);

/* Adds an aggregate of a value (NO_VALUE: unknown), of the slot's type; returns the number of its column after the
 * keys'. */
size_t pass_add(struct pass *pass, enum aggregate_kind kind, value v, struct slot slot, struct span span);
/* A sum or extreme of an integer or float, without a type of its own. */
size_t pass_add_plain(struct pass *pass, enum aggregate_kind kind, value v, struct span span);
/* Counts the rows where the bool is true; NO_VALUE: all. */
size_t pass_add_count(struct pass *pass, value where, struct span span);
/* The quantile of the rows where `where` is true; NO_VALUE: all. */
size_t pass_add_quantile(struct pass *pass, value v, value where, double quantile, bool lower, struct slot slot,
                         struct span span);

/* How many different values there are in the rows where `where` is true, counted by a server. */
size_t pass_add_distinct(struct pass *pass, value v, value where, struct slot slot, struct span span);

/* The value of a slot's type in the row that AGG_AT_LEAST or AGG_AT_MOST names by `other` (NO_VALUE: by its place), of
 * those where `where` is true. */
size_t pass_add_element(struct pass *pass, enum aggregate_kind kind, value v, value other, value where,
                        struct slot slot, struct span span);

/* A variance of x, or correlation of x and y, of the rows where `where` is true. */
size_t pass_add_moment(struct pass *pass, enum aggregate_kind kind, value x, value y, value where, struct slot slot,
                       struct span span);

/* Creates the tasks and fills in pass->flow. */
void pass_end(struct pass *pass);

/* Whether the result is one row, whatever the rows. */
bool aggregation_is_whole(const struct aggregation *of);

/* A task that reads rows of groups: columns of its own flow, and those of other relations with as many rows. */
struct reader {
    const struct aggregation *of;
    const struct flow *flow; /* INPUT k is column k */
    struct scope scope;
};
/* Column `column` of a partial's pass. */
struct term reader_partial(struct reader *reader, const struct pass *pass, size_t partial, struct span span);
/* As an integer or float. */
value reader_value(struct reader *reader, const struct pass *pass, size_t partial, struct span span);

#endif
