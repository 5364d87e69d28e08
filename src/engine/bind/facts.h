/* What is known of a pipeline or expression before it is bound.
 *
 * Binding is a function of its tree and these facts. What it lacks it says (bind.h, struct needs); its caller finds
 * that out, adds it here, and binds again (engine/run/run.h). */
#ifndef RQL_ENGINE_BIND_FACTS_H
#define RQL_ENGINE_BIND_FACTS_H

#include "base/timing.h"
#include "engine/env/sources.h"
#include "engine/expression/evaluated.h"
#include "engine/expression/pipeline_value.h"
#include "engine/expression/row_text.h"

/* Whether columns of the result that are a file's as they are may stay unread. */
enum unread_kept {
    UNREAD_NONE,
    UNREAD_NAMED, /* of a result that is named */
    UNREAD_SHOWN  /* only if all columns may, and the rows are shown */
};

struct summary; /* engine/bind/summary.h */

struct facts {
    struct env *env;
    /* What is bound, one of these. */
    const struct pipeline *pipeline; /* once it is opened, without uses of stages that the user has defined */
    const struct expr *expr;
    const struct stmt *function;   /* the definition of one */
    const struct subject *subject; /* the value that `expr` is about; or NULL */
    /* How it is bound. */
    bool checking;  /* what only running can tell is unknown, and no file opened but as env->opens_files says */
    bool runs;      /* what it reads will be evaluated. Else the result has the right columns at least */
    bool careful;   /* so that errors say most: all rows of files, no server, loops on whole columns, */
    bool seeks;     /* likewise, but of the table that a server has only the first row in which something fails */
    bool row_loops; /* but these within rows where this is set */
    bool within;    /* its result is read by another pipeline of the statement, and not shown */
    bool explains;  /* its plan is shown: no columns of tables on servers are read */
    bool describes; /* only what a server would run is asked for */
    const struct expr *value; /* of which the pipeline is the value: it has to be one; or NULL */
    bool remote; /* for a server: joins are operators, and aggregates may be of kinds that servers alone have */
    struct summary *summary;         /* what `describe` and `hist` are to ask a server of their columns; or NULL */
    const struct sent_sources *sent; /* then: sources whose rows go up with the query; or NULL */
    const bool *wanted;              /* columns of the result to keep, in order; NULL: all */
    enum unread_kept unread;
    bool any_order;      /* texts of its result may be without an order: it is named, or shown and not named, */
    const bool *ordered; /* but for those columns of the first ordered_count ones for which this is true */
    size_t ordered_count;
    const char *dialect;              /* of SQL; NULL: the server's */
    const struct workers *workers;    /* for what is computed while binding; or NULL */
    const struct join_device *device; /* for indexes, without diags; or NULL */
    struct timing *timing;            /* or NULL */
    /* What is known. */
    bool opened; /* the files of the pipeline, if they can be */
    struct sources sources;
    bool asked;                        /* a server, for what it runs of the pipeline; */
    const struct pipeline *rest;       /* what is left of that, */
    const struct bound *answer;        /* or, if nothing is, the value; else NULL. */
    const struct file_reader *failing; /* of that row; or NULL */
    bool unordered;                    /* The server's rows can only be queried */
    struct span stopped;               /* the first stage that the server does not run, source NULL: none; */
    const char *refusal;               /* and why, or NULL. */
    bool broken;                       /* reading what a server answers has failed, which would fail again */
    struct evaluations evaluations;
    struct row_texts row_texts;
    struct pipeline_values *values; /* of the statement */
};

/* Opens the pipeline's files; errors are counted in facts->sources. */
enum status facts_open(struct facts *facts, struct arena *arena, struct diags *diags);
/* Forgets all but the values. */
void facts_close(struct facts *facts);

#endif
