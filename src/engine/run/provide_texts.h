/* Makes the texts of rows that a binding needs (engine/expression/row_text.h). */
#ifndef RQL_ENGINE_RUN_PROVIDE_TEXTS_H
#define RQL_ENGINE_RUN_PROVIDE_TEXTS_H

#include "engine/run/run.h"

/* Runs what comes before the stages of the calls, as far as it reads no other texts that are needed, for the values of
 * their arguments, and adds the results to the facts. */
enum status provide_row_texts(struct runner *runner, struct facts *facts, const struct queue *queue,
                              const struct needs *needs, struct arena *arena, struct diags *diags);

#endif
