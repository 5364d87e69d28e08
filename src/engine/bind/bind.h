/* Binding: names to columns, types to expressions, stages to tasks. */
#ifndef RQL_ENGINE_BIND_BIND_H
#define RQL_ENGINE_BIND_BIND_H

#include "engine/bind/facts.h"
#include "engine/expression/row_text.h"
#include "engine/formats/save.h"
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

/* What a server runs of a pipeline. */
struct remote_description {
    const char *address; /* of the table; NULL: the pipeline begins with none */
    const char *query;   /* NULL: none but those that read columns */
    bool all;            /* the whole pipeline; else */
    struct span rest;    /* the first stage that is run here */
    const char *refusal; /* why, if that is known; or NULL */
    bool unordered;      /* its rows can only be queried */
    bool asks;           /* more is asked after the query, from its answer (summary.h) */
    const char *unless;  /* in which cases all rows come here; or NULL */
    const char *sent;    /* what goes up with the query, a line for each; or NULL */
};

struct bound {
    enum bound_kind kind;
    struct queue queue; /* as written, one task a stage */
    bool hasty;         /* errors say more with facts->careful: it reads some rows of a file or what a server made of
                           them, or has loops within rows. Known without a binding, too */
    struct scalar scalar;
    enum kind scalar_kind; /* of BOUND_SCALAR and BOUND_CONSTANT */
    struct logical_type scalar_logical;
    const char *scalar_name;    /* of a terminal, known kind or not; NULL: the pipeline has rows */
    struct value_check *checks; /* of the scalar, before it is shown, saved or named */
    size_t check_count;
    /* What the pipeline ends in. */
    struct name save_path; /* absent: none */
    enum save_way save_way;
    struct save_folders save_folders; /* of the result's columns */
    int64_t show_rows;                /* as in struct result */
    struct shape shape;               /* of a relation */
    enum view view;                   /* of a relation */
    size_t file_count, opened_count;  /* of paths that stand for several files: how many there are, and are open */
    const struct join_note *joined;   /* of a relation that a plain join has made; or NULL */
    struct name plot_path;            /* VIEW_PLOT: the file; absent: the terminal */
    struct remote_description remote; /* with facts->describes: all that is known */
};

/* What has to become known before a binding is of use. */
enum need {
    NEED_NOTHING,
    NEED_FILES,     /* the files of the pipeline, opened */
    NEED_CHOICE,    /* of the files that are listed those that it reads, opened */
    NEED_SERVER,    /* what a server makes of `part`, if there is one */
    NEED_VALUES,    /* those of `values` */
    NEED_COLUMNS,   /* `columns`, read */
    NEED_RELATIONS, /* facts->evaluations, with the columns that are wanted of them */
    NEED_ROW_TEXTS, /* those of `row_texts` */
    NEED_ORDER      /* of those of facts->row_texts that are marked so, and of columns of facts->evaluations */
};

struct needs {
    enum need what;
    const struct remote_part *part; /* bind_remote.h */
    const struct expr **values;     /* pipelines */
    size_t value_count, value_capacity;
    struct needed_columns columns;
    struct row_texts row_texts;
    bool chooses; /* the binding tells which files it reads. Else all are opened */
    bool counts;  /* but first how many rows servers have: if one tells, nothing is read yet */
    bool narrow;  /* but first which rows of a file, where only some are needed */
};

/* Binds what the facts say. In a check, values that only running can compute (missing files, results of earlier
 * statements) are accepted silently, and the result may be BOUND_UNKNOWN. Records the errors of all independent parts
 * of the statement. Unless needs->what is NEED_NOTHING, status, `bound` and `diags` are of no use but to provide that.
 * The caller calls queue_release(&bound->queue) in any case. STATUS_CANCELLED: the user interrupted what is computed
 * while binding. */
enum status bind_tree(struct facts *facts, struct arena *arena, struct bound *bound, struct needs *needs,
                      struct diags *diags);

/* Whether it is a single value, and nothing is done with it. */
bool bound_is_value(const struct bound *bound);

/* Checks the head of the definition of a stage. Its stages after rows of which nothing is known are the pipeline to be
 * bound in `inside`, a copy of the environment. NULL after an error. */
const struct pipeline *bind_stage_definition(struct env *inside, const struct stmt *def, struct arena *arena,
                                             struct diags *diags);

#endif
