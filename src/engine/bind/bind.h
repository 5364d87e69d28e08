/* Binding: names to columns, types to expressions, stages to tasks. */
#ifndef RQL_ENGINE_BIND_BIND_H
#define RQL_ENGINE_BIND_BIND_H

#include "base/timing.h"
#include "engine/env/env.h"
#include "engine/plan/result.h"
#include "engine/plan/task.h"

/* What a pipeline turned out to be. */
enum bound_kind {
    BOUND_RELATION, /* the queue's last task gives its columns */
    BOUND_SCALAR,   /* the queue's last task has one aggregate */
    BOUND_CONSTANT, /* `scalar` is the value and the queue is empty: an expression, or a name of a let scalar */
    BOUND_UNKNOWN   /* only when checking: depends on something that only running can tell */
};

/* What the value of a terminal is called in the stages after it: `_`, its name or what is short for it, or as the head
 * says. */
struct subject {
    struct binding value; /* its name is the terminal's, as `sum_amounts`; unknown before it has run */
    const struct head *head;
};

/* An assertion about the value of a terminal. */
struct value_check {
    struct code code; /* of the condition; its INPUTs are the value */
    value holds;
    const struct expr *condition; /* as written, for the error */
    const struct head *head;
    struct span span; /* of the stage, */
    const char *text; /* and its text on one line */
};

struct bound {
    enum bound_kind kind;
    struct queue queue; /* as written, one task a stage */
    struct scalar scalar;
    enum kind scalar_kind;      /* BOUND_SCALAR: known before running */
    const char *scalar_name;    /* what a value is called, be its kind known or not; NULL: the pipeline gives rows */
    struct value_check *checks; /* of the scalar, before anything else is done with it */
    size_t check_count;
    /* What is done with the result at the end of the pipeline. */
    struct name save_path; /* absent: none */
    int64_t show_rows;     /* show N; -1: as the shell likes */
    struct shape shape;    /* of a relation's rows, if they have one */
    enum view view;        /* of a relation */
    struct name plot_path; /* VIEW_PLOT: the file; absent: the terminal */
};

/* Binds a pipeline or expression. Opens files. With `checking`, values that only running can tell are passed over
 * in silence (files that do not exist yet, let names not computed) and the result is BOUND_UNKNOWN. On success the
 * caller calls queue_release(&bound->queue). All errors found in the statement's independent parts are recorded. */
enum status bind_pipeline(struct env *env, const struct pipeline *pipeline, bool checking, struct arena *arena,
                          struct timing *timing, struct bound *bound, struct diags *diags);
/* `subject`: the value that the expression is about, or NULL. */
enum status bind_expression(struct env *env, const struct expr *expr, const struct subject *subject, bool checking,
                            struct arena *arena, struct bound *bound, struct diags *diags);

/* Checks that the condition of an assert statement is not a float. */
enum status assertion_check(const struct stmt *stmt, const struct bound *bound, struct diags *diags);

/* Runs an assert statement. The error of a failed assertion shows the operands that were compared. */
enum status assertion_run(struct env *env, const struct stmt *stmt, struct arena *arena, struct diags *diags);

/* Runs bound->checks on the pipeline's value. */
enum status assertion_run_checks(struct env *env, const struct bound *bound, const struct scalar *scalar,
                                 struct arena *arena, struct diags *diags);

/* Whether the stage may follow a terminal, being of its value. */
bool stage_takes_value(enum stage_kind stage);

/* Whether it is also what may be computed of each group, called like a function. */
bool stage_is_of_groups(enum stage_kind stage);

/* Whether `name` is short for `column`: same first letter, its letters in order. */
bool name_abbreviates(const char *name, const char *column);

/* Checks a function definition (parameters used, no recursion, known names) without calling it. */
enum status bind_definition(struct env *env, const struct stmt *def, struct arena *arena, struct diags *diags);

#endif
