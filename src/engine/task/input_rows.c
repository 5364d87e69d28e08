
#include "engine/backend/memory_limit.h"
#include "engine/task/input_columns.h"

enum { BOUNDED_ROWS = 1 << 22 };

void input_rows_open(struct input_rows *input, const struct runner *runner, const struct job *job,
                     struct column *const *inputs, int64_t result_bytes)
{
    const int64_t memory = buffer_pool_limit(runner->pool), rows = job->end - job->begin;
    struct arena *arena = job->diags->arena;
    input->streams = streamed_scan_open(&input->stream, job->task, job->columns, job->begin, job->end, memory, arena);
    input->bound = INT64_MAX;
    if (input->streams)
        input->bound = input->stream.rows;
    else if (result_bytes > 0 && rows > memory / 2 / result_bytes)
        input->bound = BOUNDED_ROWS;

    /* Statistics of streamed columns would read them from disk once more. */
    if (!input->streams)
        inputs_collect_stats(runner, job->task, inputs, rows);
    struct job named = *job;
    named.columns = inputs;
    zone_prune(&input->ranges, &named, runner->collector, arena);
    timing_add_zones(job->timing, input->ranges.zones, input->ranges.skipped);
}

void input_rows_done(struct input_rows *input, int64_t end)
{
    if (input->streams)
        streamed_scan_release(&input->stream, end);
}
