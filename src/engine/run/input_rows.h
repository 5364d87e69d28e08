/* The rows that a task reads: those that zone pruning leaves, in ranges of bounded size if they exceed memory. */
#ifndef RQL_ENGINE_RUN_INPUT_ROWS_H
#define RQL_ENGINE_RUN_INPUT_ROWS_H

#include "engine/backend/streamed_scan.h"
#include "engine/backend/zone_prune.h"
#include "engine/run/run.h"

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
