/* explain: the queue as text, as written and after fusion. */
#ifndef RQL_ENGINE_EXPLAIN_EXPLAIN_H
#define RQL_ENGINE_EXPLAIN_EXPLAIN_H

#include "engine/run/run.h"

/* Appends the programs of `explain kernel PIPELINE`, one for each fused task, from the runner's device (without one,
 * the typed code). */
enum status explain_kernels(struct strbuf *out, struct runner *runner, const struct queue *fused, struct diags *diags);

/* Appends what the queue is, and the typed code of each of its tasks, after each pass that changes it. */
enum status explain_passes(struct strbuf *out, struct runner *runner, const struct queue *queue, struct arena *arena,
                           struct diags *diags);

/* Appends a line for each task of the queue: the backend it would run on now, and the expected times of that and the
 * others. Needs runner->chooser. */
enum status explain_choice(struct strbuf *out, const struct runner *runner, const struct queue *queue,
                           struct diags *diags);

/* Appends the SELECT that a server would run of `explain sql [--dialect NAME] PIPELINE`. */
enum status explain_sql(struct strbuf *out, struct runner *runner, const struct stmt *stmt, struct arena *arena,
                        struct diags *diags);

/* Appends what the server of a table runs of the pipeline, and what is left. False: it runs nothing. */
bool explain_server(struct strbuf *out, struct runner *runner, const struct stmt *stmt, struct arena *arena,
                    struct diags *diags);

/* Binds and fuses the statement's pipeline, unless a server runs it or its beginning, and appends the text. */
enum status explain_statement(struct strbuf *out, struct runner *runner, const struct stmt *stmt, struct arena *arena,
                              struct diags *diags);

#endif
