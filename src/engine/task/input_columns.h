/* A task specialised for the columns and the number of rows of one run, among them narrow copies (column_stats.h). */
#ifndef RQL_ENGINE_TASK_INPUT_COLUMNS_H
#define RQL_ENGINE_TASK_INPUT_COLUMNS_H

#include "engine/backend/streamed_scan.h"
#include "engine/backend/zone_prune.h"
#include "engine/run/run.h"

/* Returns a copy of the task for a run on `rows` rows of these inputs, some of which may be NULL. *columns are the
 * columns to read in their place: the inputs, or narrow copies. The copy's ranges, lanes, checks and guards hold for
 * those columns; the task itself, part of a plan, stays as it is. Both live in `arena`. */
const struct task *task_specialise(const struct runner *runner, const struct task *task, struct column *const *inputs,
                                   int64_t rows, struct arena *arena, struct column *const **columns);

/* Asks for statistics (column_stats.h) of the columns that a task reads at least half of. */
void inputs_collect_stats(const struct runner *runner, const struct task *task, struct column *const *inputs,
                          int64_t rows);

/* input_rows.c: the rows that a task reads: those that zone pruning leaves, in ranges of bounded size if they exceed
 * memory. */

struct input_rows {
    struct row_ranges ranges;
    int64_t bound; /* most rows a host backend may run at once; INT64_MAX: any number */
    bool streams;  /* the inputs exceed memory: */
    struct streamed_scan stream;
};

/* Finds the rows of the job to read. `inputs` are the columns that the plan names, which have the zone maps;
 * `result_bytes` is the size of a row of the result. */
void input_rows_open(struct input_rows *input, const struct runner *runner, const struct job *job,
                     struct column *const *inputs, int64_t result_bytes);

/* Call when the rows before `end` have been run: releases the pages that were streamed. */
void input_rows_done(struct input_rows *input, int64_t end);

#endif
