/* Runs a statement, from its syntax tree to its result. */
#ifndef RQL_ENGINE_RUN_RUN_H
#define RQL_ENGINE_RUN_RUN_H

#include "engine/backend/backend.h"
#include "engine/backend/trace.h"
#include "engine/bind/bind.h"
#include "engine/env/env.h"
#include "engine/plan/result.h"

/* Which results may have deferred rows (deferred_rows.h). */
enum defer_choice {
    DEFER_NEVER,
    DEFER_LONG,  /* long results, where that saves time */
    DEFER_ALWAYS /* wherever possible: for tests */
};

struct chooser;         /* backend_choice.h */
struct stats_collector; /* column_stats.h */
struct loop_frame;      /* run_repeat.h */

/* What a run needs; owned by the shell, unchanged by the run. */
struct runner {
    struct env *env;
    struct backend *evaluator;
    struct backend *device;   /* the one the user named, or NULL */
    struct chooser *chooser;  /* chooses a backend for each task, and `device` is NULL; NULL: device, else evaluator */
    bool no_wait;             /* never wait for a device to start or to build a program */
    struct buffer_pool *pool; /* for results, with the memory limit; or NULL */
    struct stats_collector *collector; /* collects column statistics for the next queries, or NULL */
    bool fusion;
    enum defer_choice defer;        /* for results that are not named, saved or plotted */
    struct timing *timing;          /* or NULL */
    struct run_trace *trace;        /* what each task takes; needs timing; or NULL */
    struct progress *progress;      /* or NULL */
    const struct loop_frame *frame; /* of the loop within which this runs, or NULL */
    const atomic_int *cancel;
};

/* Binds what the facts say, and provides what is needed for that, until nothing is. Closes the facts. On success
 * the caller calls queue_release(&bound->queue). `runner` NULL: nothing is evaluated, and of pipelines that are values
 * only the kinds are known. */
enum status bind_ready(struct runner *runner, struct facts *facts, struct arena *arena, struct bound *bound,
                       struct diags *diags);

/* Binds and runs what the facts say. Where that fails, and an error could say more, it is done again with
 * facts->careful. `stmt` NULL: it is part of a statement. The caller releases `result`; on failure it is empty. */
enum status run_with_care(struct runner *runner, struct facts *facts, const struct stmt *stmt, struct arena *arena,
                          struct result *result, struct diags *diags);

/* Runs a statement, other than STMT_COMMAND and STMT_EXPLAIN. The caller releases `result`; on failure it is empty, and
 * `diags` has the errors. All that ends with the statement is in `arena`. */
enum status run_statement(struct runner *runner, const struct stmt *stmt, struct arena *arena, struct result *result,
                          struct diags *diags);

/* check.c: checks a statement before it runs. */

/* Checks a statement's names and types without running it, and defines its names in `env`, a copy from env_copy. */
enum status check_statement(struct env *env, const struct stmt *stmt, struct arena *arena, struct diags *diags);

/* Checks a definition: its parameters, its names, that it does not use itself. */
enum status check_definition(struct env *env, const struct stmt *def, struct arena *arena, struct diags *diags);

/* An error if a `let` ends in describe or plot, which have no result. */
enum status check_naming(const struct stmt *stmt, struct diags *diags);

#endif
