/* What a server is asked of columns for `describe` and `hist`: first their bounds and sums, as one row; then, from the
 * bounds, how many values there are from each edge of a histogram on (engine/run/ask_summary.c). */
#ifndef RQL_ENGINE_BIND_SUMMARY_H
#define RQL_ENGINE_BIND_SUMMARY_H

#include "engine/expression/expression.h"

enum summary_class { SUMMARY_OF_TEXT, SUMMARY_OF_INTS, SUMMARY_OF_FLOATS };

struct summary_column {
    const char *name;
    enum type type;
    struct logical_type logical;
    enum summary_class of;
    /* For the second question. */
    const int64_t *ints; /* the edges, */
    const double *floats;
    size_t edge_count;
    bool about; /* and whether the number of different values need only be near */
};

struct summary {
    bool second;
    size_t from, to;                /* the columns that are asked for, */
    struct summary_column *columns; /* of all, which binding the first question sets */
    size_t count;
};

/* The columns of the answer. First the number of rows, and of each column that is asked for: */
enum { BOUND_PRESENT, BOUND_LEAST, BOUND_GREATEST, BOUND_SUM, BOUND_REST, BOUND_COLUMNS };
/* REST: of floats the number of NaN; integers are SUM * 2^32 + REST. Of text LEAST is the number of different ones, and
 * the others mean nothing. Secondly of each column that is no text how many values there are from each edge on, and
 * then how many different ones. */

/* The stage gives that answer. */
void bind_summary(struct binder *binder, const struct stage *stage, struct flow *flow);

#endif
