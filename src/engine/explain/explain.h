/* The queue as text: as written, and after fusion. */
#ifndef RQL_ENGINE_EXPLAIN_EXPLAIN_H
#define RQL_ENGINE_EXPLAIN_EXPLAIN_H

#include "engine/run/run.h"

/* Appends the programs of `explain kernel PIPELINE`, one for each fused task, from the runner's device (the evaluator's
 * listing of typed code if there is none). */
enum status explain_kernels(struct strbuf *out, struct runner *runner, const struct queue *fused, struct diags *diags);

/* Appends a line for each task of the queue as it will be run: the backend it would run on now, and the times expected
 * of that and the others. Only where runner->chooser chooses. */
enum status explain_choice(struct strbuf *out, const struct runner *runner, const struct queue *queue,
                           struct diags *diags);

/* explain as a statement: binds, fuses, appends the text. */
enum status explain_statement(struct strbuf *out, struct runner *runner, const struct stmt *stmt, struct arena *arena,
                              struct diags *diags);

#endif
