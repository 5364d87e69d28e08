/* The columns that a task reads: those it names, or narrow copies of them. Private to run*.c. */
#ifndef RQL_ENGINE_RUN_INPUT_COLUMNS_H
#define RQL_ENGINE_RUN_INPUT_COLUMNS_H

#include "engine/run/run.h"

/* What to read in place of the task's inputs, of which some may be NULL. Another way of storing a column is another
 * program, so where the user has named a device, and so waits for each program to be built, these are the inputs. */
struct column *const *inputs_narrow(const struct runner *runner, const struct task *task, struct column *const *inputs,
                                    struct arena *arena);

/* Notes which columns the task reads, or could have skipped by what is known of them (column_stats.h). */
void inputs_note(const struct runner *runner, const struct task *task, struct column *const *inputs, int64_t rows);

#endif
