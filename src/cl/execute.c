#include "execute.h"

#include "collect.h"
#include "launch.h"

#include "../heap.h"

#include <stdlib.h>
#include <unistd.h>

enum { ROW_UNIT = 4096, FEWEST_ROWS = 65536 };

/* What the pieces of a range add to. */
struct results {
    const struct execution *execution;
    struct agg_state *states; /* or */
    struct row_sink *sink;
    bool *flagged;
};

/* One piece. STATUS_UNABLE is either the accelerator's failure or has been told. */
typedef enum status piece_fn(const struct results *results, struct launch *launch);

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Elements of column k if each launch has all of them, else 0; of a program that is only shown there are none. */
static int64_t whole_rows(const struct execution *execution, size_t k)
{
    const struct emitter *emitter = &execution->plan->emitter;
    const struct column *column = execution->job->columns[emitter->inputs[k]];

    return emitter->reaches[k] == REACH_WHOLE && column ? column->rows : 0;
}

static int64_t column_size(const struct emitter *emitter, size_t k)
{
    return (int64_t)type_table[emitter->stores[emitter->inputs[k]]].size;
}

/* The bytes of inputs that each launch has all of. */
static int64_t whole_bytes(const struct execution *execution)
{
    const struct emitter *emitter = &execution->plan->emitter;
    int64_t bytes = 0;

    for (size_t k = 0; k < emitter->column_count; k++)
        bytes += whole_rows(execution, k) * column_size(emitter, k);
    return bytes;
}

bool execute_has_room(const struct execution *execution)
{
    const struct emitter *emitter = &execution->plan->emitter;
    const struct device *device = &execution->accelerator->device;
    int64_t page = sysconf(_SC_PAGESIZE);

    for (size_t k = 0; k < emitter->column_count; k++)
        if (whole_rows(execution, k) * column_size(emitter, k) > (int64_t)device->largest_buffer - page)
            return false;
    return execution->plan->shape->host_memory || whole_bytes(execution) <= (int64_t)(device->memory / 2);
}

int64_t execute_most_rows(const struct execution *execution)
{
    const struct plan *plan = execution->plan;
    const struct device *device = &execution->accelerator->device;
    const struct emitter *emitter = &plan->emitter;
    const struct task *task = emitter->task;
    size_t widest = 1, all = 1;
    int64_t rows = plan->rows;

    for (size_t k = 0; k < emitter->column_count + task->output_count; k++) {
        size_t output = k - emitter->column_count;
        if (k < emitter->column_count && emitter->reaches[k] == REACH_WHOLE)
            continue;
        if (k >= emitter->column_count && (task->sink != SINK_ROWS || !task->outputs[output].needed))
            continue;
        enum type store = k < emitter->column_count ? emitter->stores[emitter->inputs[k]] : plan->stores[output];
        size_t size = type_table[store].size;
        widest = size > widest ? size : widest;
        all += size;
    }
    /* In place, a buffer starts at a page's start, so up to a page comes on top. */
    rows = least(rows, (int64_t)(device->largest_buffer / widest) - sysconf(_SC_PAGESIZE));
    if (!plan->shape->host_memory)
        rows = least(rows, ((int64_t)(device->memory / 5 * 4) - whole_bytes(execution)) / (int64_t)all);
    return rows < ROW_UNIT ? ROW_UNIT : rows / ROW_UNIT * ROW_UNIT;
}

/* Runs a kernel that leaves slots, and fetches them: to be freed; NULL with the accelerator's failure. */
static uint64_t *run_for_slots(struct launch *launch, enum kernel_role role, const struct accumulators *accumulators,
                               struct slots *slots, bool *flagged)
{
    struct accelerator *accelerator = launch->accelerator;
    size_t groups = launch_groups(launch, role), bytes = accumulators->count * groups * sizeof(uint64_t);
    cl_mem buffer = memory_scratch(accelerator->memory, SCRATCH_SLOTS, bytes);
    if (!buffer || !launch_kernel(launch, role, flagged))
        return NULL;

    uint64_t *results = heap_array(accumulators->count * groups + 1, sizeof *results);
    *slots = (struct slots){accumulators, results, groups};
    if (bytes == 0 || cl_ok(&accelerator->failure, "clEnqueueReadBuffer",
                            clEnqueueReadBuffer(accelerator->queue, buffer, CL_TRUE, 0, bytes, results, 0, NULL, NULL)))
        return results;
    free(results);
    return NULL;
}

/* The second pass of float sums; what both passes found goes into the states. */
static enum status add_levels(const struct results *results, struct launch *launch, const struct slots *first,
                              int64_t kept)
{
    const struct plan *plan = launch->plan;
    struct diags *diags = launch->job->diags;
    size_t count = plan->emitter.task->aggregate_count;
    struct levels *levels = arena_array(diags->arena, count + 1, sizeof *levels);
    bool needed = false;
    uint64_t *at = NULL;
    struct slots second;

    /* No note of this: it is the values, not the device, that are unusual, and the answer is the same. */
    if (!collect_levels(first, launch_accumulator_rows(launch, KERNEL_LEVELS), levels, &needed))
        return STATUS_UNABLE;
    launch->levels = levels;
    if (needed) {
        at = run_for_slots(launch, KERNEL_LEVELS, &plan->second, &second, results->flagged);
        if (!at)
            return STATUS_UNABLE;
        collect_second(&second, levels, kept, results->states);
        free(at);
    }
    return STATUS_OK;
}

static enum status aggregate_piece(const struct results *results, struct launch *launch)
{
    const struct plan *plan = launch->plan;
    size_t count = plan->emitter.task->aggregate_count;
    struct slots first = {&plan->first, NULL, 0};
    enum status status = STATUS_OK;

    if (!plan->roles[KERNEL_AGGREGATE]) { /* counts of all rows */
        collect_first(&first, launch->rows, results->states, count);
        return STATUS_OK;
    }
    uint64_t *at = run_for_slots(launch, KERNEL_AGGREGATE, &plan->first, &first, results->flagged);
    if (!at)
        return STATUS_UNABLE;
    int64_t kept = collect_kept(&first, launch->rows);
    if (plan->roles[KERNEL_LEVELS] && kept > 0 && !*results->flagged)
        status = add_levels(results, launch, &first, kept);
    if (status == STATUS_OK)
        collect_first(&first, kept, results->states, count);
    free(at);
    return status;
}

/* Writes the rows that are kept behind those that the sink has. */
static bool write_rows(const struct results *results, struct launch *launch)
{
    const struct task *task = launch->plan->emitter.task;
    struct memory *memory = launch->accelerator->memory;
    struct row_sink *sink = results->sink;
    struct view *views = arena_array(launch->job->diags->arena, task->output_count + 1, sizeof *views);

    for (size_t k = 0; k < task->output_count; k++)
        if (task->outputs[k].needed && !memory_output(memory, sink->columns[k], sink->rows, launch->written, &views[k]))
            return false;
    launch->outputs = views;
    if (!launch_kernel(launch, KERNEL_WRITE, results->flagged))
        return false;
    for (size_t k = 0; k < task->output_count; k++)
        if (task->outputs[k].needed &&
            !memory_fetch(memory, sink->columns[k], sink->rows, launch->written, &views[k], launch->job->timing))
            return false;
    return true;
}

/* Turns counts into starts: where each group's rows go, and at the end how many there are in all. */
static int64_t prefix(uint64_t *counts, size_t groups)
{
    uint64_t sum = 0;

    for (size_t k = 0; k <= groups; k++) {
        uint64_t count = counts[k];
        counts[k] = sum;
        sum += k < groups ? count : 0;
    }
    return (int64_t)sum;
}

/* How many rows are kept, with the groups' starts left in SCRATCH_SLOTS; -1 for a failure. */
static int64_t count_rows(const struct results *results, struct launch *launch)
{
    struct accelerator *accelerator = launch->accelerator;
    struct slots slots;
    uint64_t *starts = run_for_slots(launch, KERNEL_COUNT, &launch->plan->kept, &slots, results->flagged);
    if (!starts)
        return -1;

    int64_t kept = prefix(starts, slots.groups);
    size_t bytes = (slots.groups + 1) * sizeof *starts;
    cl_mem buffer = memory_scratch(accelerator->memory, SCRATCH_SLOTS, bytes);
    bool written =
        buffer && cl_ok(&accelerator->failure, "clEnqueueWriteBuffer",
                        clEnqueueWriteBuffer(accelerator->queue, buffer, CL_TRUE, 0, bytes, starts, 0, NULL, NULL));
    free(starts);
    return written ? kept : -1;
}

static enum status rows_piece(const struct results *results, struct launch *launch)
{
    launch->written = launch->rows;
    if (launch->plan->roles[KERNEL_COUNT])
        launch->written = count_rows(results, launch);
    if (launch->written < 0)
        return STATUS_UNABLE;
    if (launch->plan->roles[KERNEL_WRITE] && launch->written > 0 && !*results->flagged && !write_rows(results, launch))
        return STATUS_UNABLE;
    results->sink->rows += launch->written;
    return STATUS_OK;
}

/* Rows begin .. end-1 of an input, which are not always any. */
static bool view_rows(const struct execution *execution, size_t input, int64_t begin, int64_t end, struct view *view)
{
    struct memory *memory = execution->accelerator->memory;
    const struct job *job = execution->job;

    if (begin < end)
        return memory_input(memory, job->columns[input], begin, end - begin, job->timing, view);
    *view = (struct view){.buffer = memory_scratch(memory, SCRATCH_FLAG, 1)};
    return view->buffer != NULL;
}

/* What a piece reads of column k. */
static bool view_supply(const struct execution *execution, size_t k, int64_t row, int64_t rows, struct supply *supply)
{
    const struct emitter *emitter = &execution->plan->emitter;
    size_t input = emitter->inputs[k];
    const struct job *job = execution->job;
    int64_t count = job->columns[input]->rows, begin = job->task->first + row, end = begin + rows;
    int64_t before, after;

    if (emitter->reaches[k] == REACH_WHOLE) {
        supply->high = count;
        return view_rows(execution, input, 0, count, &supply->view);
    }
    reach_offsets(emitter, input, begin, end, count, &before, &after);
    supply->low = -least(begin, -before);
    supply->high = rows + least(count - end, after);
    if (!view_rows(execution, input, begin + supply->low, begin + supply->high, &supply->view))
        return false;
    supply->view.first += (cl_ulong)-supply->low;
    return true;
}

static enum status run_piece(const struct results *results, int64_t row, int64_t rows, piece_fn *piece)
{
    const struct execution *execution = results->execution;
    struct accelerator *accelerator = execution->accelerator;
    const struct job *job = execution->job;
    const struct emitter *emitter = &execution->plan->emitter;
    struct supply *supplies = arena_array(job->diags->arena, emitter->column_count + 1, sizeof *supplies);
    struct launch launch = {.accelerator = accelerator,
                            .plan = execution->plan,
                            .program = execution->program,
                            .job = job,
                            .row = row,
                            .rows = rows,
                            .inputs = supplies};
    enum status status = STATUS_OK;

    for (size_t k = 0; k < emitter->column_count && status == STATUS_OK; k++)
        if (!view_supply(execution, k, row, rows, &supplies[k]))
            status = STATUS_UNABLE;
    if (status == STATUS_OK)
        status = piece(results, &launch);
    if (status != STATUS_OK)
        clFinish(accelerator->queue); /* nothing may still work in the host's memory; what is wrong is known */
    memory_done(accelerator->memory);
    return status;
}

static enum status run_pieces(const struct results *results, piece_fn *piece)
{
    const struct execution *execution = results->execution;
    struct accelerator *accelerator = execution->accelerator;
    struct failure *failure = &accelerator->failure;
    const struct job *job = execution->job;
    int64_t most = execute_most_rows(execution);

    for (int64_t row = job->begin; row < job->end && !*results->flagged;) {
        int64_t rows = least(most, job->end - row);
        if (job->cancel && *job->cancel)
            return STATUS_CANCELLED;
        enum status status = run_piece(results, row, rows, piece);
        if (status == STATUS_OK) {
            row += rows;
        } else if (!failure->call) {
            return status;
        } else if (!cl_error_is_memory(failure->code) || rows <= FEWEST_ROWS) {
            return cl_report(failure, accelerator->device.name, job->diags);
        } else {
            *failure = (struct failure){0};
            memory_drop(accelerator->memory);
            most = rows / 2 / ROW_UNIT * ROW_UNIT;
        }
    }
    return STATUS_OK;
}

enum status execute_aggregate(const struct execution *execution, struct agg_state *states, bool *flagged)
{
    const struct results results = {execution, states, NULL, flagged};

    return run_pieces(&results, aggregate_piece);
}

enum status execute_rows(const struct execution *execution, struct row_sink *sink, bool *flagged)
{
    const struct results results = {execution, NULL, sink, flagged};

    return run_pieces(&results, rows_piece);
}
