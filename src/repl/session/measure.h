/* Timed runs of a query, for `.timing N`, `explain run` and `race`. */
#ifndef RQL_REPL_SESSION_MEASURE_H
#define RQL_REPL_SESSION_MEASURE_H

#include "engine/run/run.h"
#include "repl/session/session.h"

#include <stdint.h>

/* One run. */
struct measurement {
    int64_t ns;
    struct phase_times times;
    struct run_trace trace; /* tasks, in the arena of the run */
};

/* Several runs. Their times exclude building programs, which happens once. */
struct measurements {
    int64_t *ns; /* ascending */
    int count;
    int64_t build_ns;        /* in all runs */
    struct phase_times best; /* of the fastest run */
};

/* Runs a query once; the runner's own timing and trace are not used. The caller releases the result. */
enum status measure_once(const struct runner *runner, const struct stmt *query, struct arena *arena,
                         struct measurement *measurement, struct result *result, struct diags *diags);

/* Repeats a query until it has run `max_runs` times or for `enough_ns`, whichever is first, but at least once. If a run
 * fails or is cancelled, `measurements` has the runs before it. */
enum status measure_repeated(const struct runner *runner, const struct stmt *query, int max_runs, int64_t enough_ns,
                             struct arena *arena, struct measurements *measurements, struct diags *diags);

/* Runs the pipeline on the evaluator and on every device, checks that the results are identical and prints how the
 * times compare. */
enum status race_run(struct session *session, const struct stmt *stmt, struct arena *arena, struct diags *diags);

/* Runs the pipeline and prints a table of its tasks instead of the result. */
enum status explain_run(struct session *session, const struct stmt *stmt, struct arena *arena, struct diags *diags);

/* Returns the rate, in bytes/ns, at which all processors together read a buffer of `bytes` (at least some thousands)
 * repeatedly; caches may hold it. 0 without memory. */
double read_bandwidth(int64_t bytes);

#endif
