/* The result of a statement: nothing, a scalar or a relation, and how to show it. */
#ifndef RQL_ENGINE_PLAN_RESULT_H
#define RQL_ENGINE_PLAN_RESULT_H

#include "engine/plan/task.h"
#include "engine/storage/column.h"
#include "parser/ast.h"

/* How a relation is shown. */
enum view {
    VIEW_ROWS,
    VIEW_HISTOGRAM,   /* its columns are lo, hi and count, or text and count, from `hist` */
    VIEW_DESCRIPTION, /* a line per column */
    VIEW_PLOT
};

/* The rows that are shown where no number is told: as many as fit, or those that the user scrolls to. */
enum { SHOW_SOME = -1, SHOW_BROWSED = -2 };

struct result {
    enum { RESULT_NONE, RESULT_SCALAR, RESULT_RELATION } kind;
    struct scalar scalar;
    struct relation *relation;       /* one reference, owned by the caller */
    int64_t show_rows;               /* from a show stage, < 0 otherwise: SHOW_SOME or, from `browse`, SHOW_BROWSED */
    bool quiet;                      /* saved or named: nothing to print */
    enum view view;                  /* of the relation */
    struct name plot_path;           /* VIEW_PLOT: the file to draw into; absent: the terminal */
    struct description *description; /* VIEW_DESCRIPTION, in the statement's arena */
};
void result_release(struct result *result);

/* A relation of the task's visible outputs: columns[k] is output k. Columns that the task made get their logical type
 * and validity; those that it only passes on have them. Takes references of its own. */
struct relation *relation_of_outputs(const struct task *task, int64_t rows, struct column *const *columns);

#endif
