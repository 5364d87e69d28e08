/* The result of a statement: nothing, a scalar or a relation, and how to show it. */
#ifndef RQL_ENGINE_PLAN_RESULT_H
#define RQL_ENGINE_PLAN_RESULT_H

#include "engine/storage/column.h"
#include "parser/ast.h"

/* How a relation is looked at. */
enum view {
    VIEW_ROWS,
    VIEW_HISTOGRAM,   /* it is lo, hi, count, as `hist` gives it */
    VIEW_DESCRIPTION, /* a line about each column */
    VIEW_PLOT
};

struct result {
    enum { RESULT_NONE, RESULT_SCALAR, RESULT_RELATION } kind;
    struct scalar scalar;
    struct relation *relation;       /* one reference, the caller's */
    int64_t show_rows;               /* from a show stage, -1 otherwise */
    bool quiet;                      /* saved or named: nothing to print */
    enum view view;                  /* how the relation is to be shown */
    struct name plot_path;           /* VIEW_PLOT: the file it is drawn into; absent: the terminal */
    struct description *description; /* VIEW_DESCRIPTION, in the statement's arena */
};
void result_release(struct result *result);

#endif
