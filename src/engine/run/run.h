/* The spine: a statement from its tree to its result. */
#ifndef RQL_ENGINE_RUN_RUN_H
#define RQL_ENGINE_RUN_RUN_H

#include "engine/backend/backend.h"
#include "engine/backend/trace.h"
#include "engine/env/env.h"
#include "engine/plan/result.h"

/* Whether rows of results that may not be looked at are left until somebody asks for them (deferred_rows.h). */
enum defer_choice {
    DEFER_NEVER,
    DEFER_LONG,  /* of long results, where that saves something */
    DEFER_ALWAYS /* wherever it can be done: for tests */
};

struct chooser;         /* backend_choice.h */
struct stats_collector; /* column_stats.h */

/* What a run needs to know; owned by the shell, unchanged by the run. */
struct runner {
    struct env *env;
    struct backend *evaluator; /* always there */
    struct backend *device;    /* the one named by the user; NULL: the evaluator runs everything, or as chosen by: */
    struct chooser *chooser;   /* not NULL: chooses a backend for each task, and `device` is NULL */
    bool hasty;                /* nobody asked for the device: nothing waits until it has started or built a program */
    struct buffer_pool *pool;  /* for results, or NULL */
    struct stats_collector *collector; /* finds out about columns for the next queries, or NULL */
    int64_t memory; /* bytes that there are for results and for what is read; 0: those of the machine */
    bool fusion;
    enum defer_choice defer;   /* of results that are not named, saved or drawn */
    struct timing *timing;     /* or NULL */
    struct run_trace *trace;   /* with timing: told what each task took, or NULL */
    struct progress *progress; /* told how far the tasks are, or NULL */
    const atomic_int *cancel;
};

/* Runs one statement (not STMT_COMMAND, not STMT_EXPLAIN). `arena` holds everything that dies with it. */
enum status run_statement(struct runner *runner, const struct stmt *stmt, struct arena *arena, struct result *result,
                          struct diags *diags);

/* Runs a bound queue, fused if runner->fusion; no rows of the result are deferred. */
enum status run_queue(struct runner *runner, const struct queue *queue, struct result *result, struct diags *diags);

#endif
