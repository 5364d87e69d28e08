/* Binding: names to columns, types to expressions, stages to tasks. */
#ifndef RQL_ENGINE_BIND_BIND_H
#define RQL_ENGINE_BIND_BIND_H

#include "base/timing.h"
#include "engine/expression/evaluated.h"
#include "engine/plan/result.h"
#include "engine/plan/task.h"

/* What a pipeline or expression is. */
enum bound_kind {
    BOUND_RELATION, /* the queue's last task has its columns */
    BOUND_SCALAR,   /* the queue's last task has one aggregate */
    BOUND_CONSTANT, /* `scalar` is the value and the queue is empty: an expression, or the name of a `let` scalar */
    BOUND_UNKNOWN   /* in a check only: depends on what only running can compute */
};

/* An assertion about the value of a terminal. */
struct value_check {
    const struct expr *condition; /* as written, for the error */
    const struct head *head;
    struct span span; /* of the stage, */
    const char *text; /* and its text on one line */
};

struct bound {
    enum bound_kind kind;
    struct queue queue; /* as written, one task a stage */
    bool narrowed;      /* it reads some rows of a file, or has loops within rows: errors say more with `whole` */
    struct scalar scalar;
    enum kind scalar_kind; /* of BOUND_SCALAR and BOUND_CONSTANT */
    struct logical_type scalar_logical;
    const char *scalar_name;    /* of a terminal, known kind or not; NULL: the pipeline has rows */
    struct value_check *checks; /* of the scalar, before it is shown, saved or named */
    size_t check_count;
    /* What the pipeline ends in. */
    struct name save_path;          /* absent: none */
    int64_t show_rows;              /* show N; -1: the shell's default */
    struct shape shape;             /* of a relation */
    enum view view;                 /* of a relation */
    const struct join_note *joined; /* of a relation that a plain join has made; or NULL */
    struct name plot_path;          /* VIEW_PLOT: the file; absent: the terminal */
};

/* Whether columns of the result that are a file's as they are may stay unread. */
enum unread_kept {
    UNREAD_NONE,
    UNREAD_NAMED, /* of a result that is named */
    UNREAD_SHOWN  /* only if all columns may, and the rows are shown */
};

/* What to bind, and how. */
struct bind_request {
    const struct pipeline *pipeline;
    bool whole;                         /* all rows of files are read, loops are on whole columns, */
    bool row_loops;                     /* unless this is set, and they can be within rows */
    bool checking;                      /* nothing is evaluated, and no file opened but as env->opens_files says */
    const struct source_runner *runner; /* evaluates sources (evaluated.h); NULL: the result has the right columns, but
                                           cannot be run if it reads such sources */
    const bool *wanted;                 /* columns of the result to keep, in order; NULL: all */
    enum unread_kept unread;
    const char *dialect;   /* remote_describe: of SQL; NULL: the server's */
    struct timing *timing; /* or NULL */
};

/* What a server runs of a pipeline. */
struct remote_description {
    const char *address; /* of the table; NULL: the pipeline begins with none */
    const char *query;   /* NULL: none but those that read columns */
    bool all;            /* the whole pipeline; else */
    struct span rest;    /* the first stage that is run here */
    const char *refusal; /* why, if that is known; or NULL */
};

/* Tells what a server would run of the pipeline, of which it runs nothing. */
enum status remote_describe(struct env *env, const struct bind_request *request, struct arena *arena,
                            struct remote_description *description, struct diags *diags);

/* Binds a pipeline: first loads its files (sources.h), then binds. Times both phases. In a check, values that only
 * running can compute (missing files, results of earlier statements) are accepted silently, and the result may be
 * BOUND_UNKNOWN. On success the caller calls queue_release(&bound->queue). Records the errors of all independent parts
 * of the statement. STATUS_CANCELLED: while a file was loaded, or a source evaluated. */
enum status bind_pipeline(struct env *env, const struct bind_request *request, struct arena *arena, struct bound *bound,
                          struct diags *diags);
/* Binds an expression and evaluates it, if it does not depend on unknown values. `subject`: the value it is about, or
 * NULL. */
enum status bind_expression(struct env *env, const struct expr *expr, const struct subject *subject, bool checking,
                            struct arena *arena, struct bound *bound, struct diags *diags);

/* Whether it is a single value, and nothing is done with it; and the error that it is not. */
bool bound_is_value(const struct bound *bound);
enum status bound_is_no_value(struct span span, struct diags *diags);

/* Checks that the condition of an assert statement is not a float. */
enum status assertion_check(const struct stmt *stmt, const struct bound *bound, struct diags *diags);

/* Runs an assert statement. The error of a failed assertion shows the operands that were compared. */
enum status assertion_run(struct env *env, const struct stmt *stmt, struct arena *arena, struct diags *diags);

/* Runs bound->checks on the pipeline's value. */
enum status assertion_run_checks(struct env *env, const struct bound *bound, const struct scalar *scalar,
                                 struct arena *arena, struct diags *diags);

/* Checks a function definition (parameters, names, no recursion). */
enum status bind_definition(struct env *env, const struct stmt *def, struct arena *arena, struct diags *diags);

#endif
