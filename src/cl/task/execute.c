#include "cl/task/execute.h"

#include "cl/task/launch.h"
#include "cl/task/read_aggregates.h"

#include "base/heap.h"
#include "base/integer.h"
#include "engine/storage/residency.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* While columns are uploaded, a piece is large enough for the link and small enough to start early: between pieces of
 * 256 MB the link rests for a tenth of the time. Uploading a range takes some 100 ms. */
enum { ROW_UNIT = 4096, FEWEST_ROWS = 65536, PIECE_BYTES = 1 << 30, RANGE_PIECES = 4 };

/* The sink of all pieces of a range. */
struct results {
    const struct execution *execution;
    struct agg_state *states; /* or a row sink */
    struct row_sink *sink;
    bool *flagged;
    bool keep_on_device; /* leave rows on the device */
};

/* Runs one piece. STATUS_UNABLE: the accelerator's failure, or already reported. */
typedef enum status piece_fn(const struct results *results, struct launch *launch);

/* Rows of column k if every launch needs all of them, else 0; explain has no columns. */
static int64_t whole_rows(const struct execution *execution, size_t k)
{
    const struct emitter *emitter = &execution->plan->emitter;
    const struct column *column = execution->job->columns[emitter->inputs[k]];
    return emitter->access[k] == ACCESS_ANY && column ? column->rows : 0;
}

static int64_t column_size(const struct emitter *emitter, size_t k)
{
    return (int64_t)type_table[emitter->stores[emitter->inputs[k]]].size;
}

/* Bytes of the inputs that every launch needs in whole. */
static int64_t whole_bytes(const struct execution *execution)
{
    const struct emitter *emitter = &execution->plan->emitter;
    int64_t bytes = 0;
    for (size_t k = 0; k < emitter->column_count; k++)
        bytes += whole_rows(execution, k) * column_size(emitter, k);
    return bytes;
}

bool execute_fits(const struct execution *execution)
{
    const struct emitter *emitter = &execution->plan->emitter;
    const struct device *device = &execution->accelerator->device;
    const int64_t page = sysconf(_SC_PAGESIZE);
    for (size_t k = 0; k < emitter->column_count; k++) {
        if (whole_rows(execution, k) * column_size(emitter, k) > (int64_t)device->largest_buffer - page)
            return false;
    }
    return execution->plan->config->host_memory || whole_bytes(execution) <= (int64_t)(device->memory / 2);
}

/* Bytes of a row: of inputs read row by row, of outputs, and of the widest element. */
struct row_bytes {
    int64_t inputs, outputs, widest;
};

static struct row_bytes row_bytes(const struct execution *execution)
{
    const struct kernel_plan *plan = execution->plan;
    const struct emitter *emitter = &plan->emitter;
    const struct task *task = emitter->task;
    struct row_bytes bytes = {0, 0, 1};
    for (size_t k = 0; k < emitter->column_count; k++) {
        if (emitter->access[k] == ACCESS_ANY)
            continue;
        const int64_t size = column_size(emitter, k);
        bytes.inputs += size;
        bytes.widest = size > bytes.widest ? size : bytes.widest;
    }
    for (size_t k = 0; k < task->output_count && task->sink == SINK_ROWS; k++) {
        if (!task->outputs[k].needed)
            continue;
        const int64_t size = (int64_t)type_table[plan->stores[k]].size;
        bytes.outputs += size;
        bytes.widest = size > bytes.widest ? size : bytes.widest;
    }
    if (plan->listed) {
        bytes.outputs += (int64_t)sizeof(cl_uint);
        bytes.widest = max_int64(bytes.widest, (int64_t)sizeof(cl_uint));
    }
    return bytes;
}

/* The rows of column k that rows of the task read. */
struct rows_read {
    int64_t begin, end;    /* of the column */
    int64_t before, after; /* rows outside the task's: at most 0, at least 0 */
};

static struct rows_read rows_read(const struct execution *execution, size_t k, int64_t row, int64_t rows)
{
    const struct emitter *emitter = &execution->plan->emitter;
    const size_t input = emitter->inputs[k];
    const int64_t count = execution->job->columns[input]->rows;
    int64_t begin = execution->job->task->first + row, end = begin + rows, before, after;
    if (emitter->access[k] == ACCESS_ANY)
        return (struct rows_read){0, count, 0, 0};
    input_access_offsets(emitter, input, begin, end, count, &before, &after);
    before = -min_int64(begin, -before);
    after = min_int64(count - end, after);
    return (struct rows_read){begin + before, end + after, before, after};
}

/* Whether all inputs of these rows are on the device. */
static bool is_resident(const struct execution *execution, int64_t row, int64_t rows)
{
    const struct emitter *emitter = &execution->plan->emitter;
    for (size_t k = 0; k < emitter->column_count; k++) {
        struct rows_read read = rows_read(execution, k, row, rows);
        if (read.begin < read.end &&
            !memory_has(execution->accelerator->memory, execution->job->columns[emitter->inputs[k]], read.begin,
                        read.end - read.begin))
            return false;
    }
    return true;
}

/* Memory for row by row inputs and outputs, in bytes. */
static int64_t available_bytes(const struct execution *execution)
{
    return (int64_t)memory_budget(execution->accelerator) - whole_bytes(execution);
}

static int64_t in_units(int64_t rows)
{
    return rows < ROW_UNIT ? ROW_UNIT : rows / ROW_UNIT * ROW_UNIT;
}

/* Rows whose inputs are uploaded at once. */
static int64_t piece_rows(const struct row_bytes *bytes)
{
    return in_units(PIECE_BYTES / bytes->inputs);
}

int64_t execute_most_rows(const struct execution *execution)
{
    const struct device *device = &execution->accelerator->device;
    const struct job *job = execution->job;
    struct row_bytes bytes = row_bytes(execution);
    /* Host memory is mapped from the start of a page. */
    int64_t rows =
        min_int64(execution->plan->rows, (int64_t)device->largest_buffer / bytes.widest - sysconf(_SC_PAGESIZE));

    if (execution->plan->config->host_memory)
        return in_units(rows);
    rows = min_int64(rows, available_bytes(execution) / (bytes.inputs + bytes.outputs + 1));
    if (bytes.inputs > 0 && !is_resident(execution, job->begin, job->end - job->begin))
        rows = min_int64(rows, RANGE_PIECES * piece_rows(&bytes));
    return in_units(rows);
}

/* Runs a kernel and returns its slots, to be freed; NULL with the accelerator's failure. */
static uint64_t *run_for_slots(struct launch *launch, enum kernel_role role, const struct accumulators *accumulators,
                               struct slots *slots, bool *flagged)
{
    struct accelerator *accelerator = launch->accelerator;
    size_t groups = launch_groups(launch, role), bytes = accumulators->count * groups * sizeof(uint64_t);
    struct readback readback = {memory_scratch(accelerator->memory, SCRATCH_SLOTS, bytes), bytes, NULL};
    if (!readback.buffer || !launch_kernel(launch, role, readback.buffer, &readback, flagged))
        return NULL;
    uint64_t *results = heap_array(accumulators->count * groups + 1, sizeof *results);
    memcpy(results, readback.at, bytes);
    *slots = (struct slots){accumulators, results, groups};
    return results;
}

/* Runs the second pass of float sums and adds it to the states. */
static enum status add_float_sums(const struct results *results, struct launch *launch, const struct slots *first,
                                  int64_t kept)
{
    const struct kernel_plan *plan = launch->plan;
    struct diags *diags = launch->job->diags;
    const size_t count = plan->emitter.task->aggregate_count;
    struct float_sum_levels *levels = arena_array(diags->arena, count + 1, sizeof *levels);
    bool needed = false;
    uint64_t *at = NULL;
    struct slots second;
    /* No note: the values are unusual, not the device, and the answer is the same. */
    if (!read_aggregate_levels(first, launch_accumulator_rows(launch, KERNEL_FLOAT_SUMS), levels, &needed))
        return STATUS_UNABLE;
    launch->levels = levels;
    if (needed) {
        at = run_for_slots(launch, KERNEL_FLOAT_SUMS, &plan->float_sums, &second, results->flagged);
        if (!at)
            return STATUS_UNABLE;
        read_aggregate_second(&second, levels, kept, results->states);
        free(at);
    }
    return STATUS_OK;
}

static enum status aggregate_piece(const struct results *results, struct launch *launch)
{
    const struct kernel_plan *plan = launch->plan;
    const size_t count = plan->emitter.task->aggregate_count;
    struct slots first = {&plan->aggregates, NULL, 0};
    enum status status = STATUS_OK;
    if (!plan->roles[KERNEL_AGGREGATE]) { /* counts of all rows */
        read_aggregate_first(&first, launch->rows, results->states, count);
        return STATUS_OK;
    }
    uint64_t *at = run_for_slots(launch, KERNEL_AGGREGATE, &plan->aggregates, &first, results->flagged);
    if (!at)
        return STATUS_UNABLE;
    const int64_t kept = read_aggregate_kept(&first, launch->rows);
    if (plan->roles[KERNEL_FLOAT_SUMS] && kept > 0 && !*results->flagged)
        status = add_float_sums(results, launch, &first, kept);
    if (status == STATUS_OK)
        read_aggregate_first(&first, kept, results->states, count);
    free(at);
    return status;
}

/* Runs the kernel that writes rows; of a filter in one pass it learns how many these are. */
static bool run_write(const struct results *results, struct launch *launch)
{
    struct memory *memory = launch->accelerator->memory;
    struct readback readback = {.bytes = sizeof(uint64_t)};
    const bool one_pass = kernel_in_one_pass(launch->plan);
    if (one_pass)
        readback.buffer = memory_tiles(memory, SCRATCH_TILES, launch_tiles(launch) + 1, &launch->epoch);
    const size_t list = launch_list_bytes(launch->plan, launch->rows);
    cl_mem slots = one_pass ? readback.buffer : memory_scratch(memory, SCRATCH_SLOTS, list);
    return (slots || (!one_pass && list == 0)) && launch_clear_list(launch->accelerator, slots, list) &&
           launch_kernel(launch, KERNEL_WRITE, slots, one_pass ? &readback : NULL, results->flagged) &&
           (list == 0 || launch_kernel(launch, KERNEL_TERMS, slots, NULL, results->flagged));
}

/* Appends the kept rows to the sink. */
static bool write_rows(const struct results *results, struct launch *launch)
{
    const struct task *task = launch->plan->emitter.task;
    struct memory *memory = launch->accelerator->memory;
    struct row_sink *sink = results->sink;
    struct view *views = arena_array(launch->job->diags->arena, task->output_count + 1, sizeof *views);
    for (size_t k = 0; k < task->output_count; k++) {
        if (task->outputs[k].needed && !memory_output(memory, sink->columns[k], sink->rows, launch->written, &views[k]))
            return false;
    }
    launch->outputs = views;
    if (!run_write(results, launch))
        return false;
    for (size_t k = 0; k < task->output_count && launch->written > 0 && !*results->flagged; k++) {
        struct timing *timing = launch->job->timing;
        if (task->outputs[k].needed && !(results->keep_on_device ? memory_keep : memory_fetch)(
                                           memory, sink->columns[k], sink->rows, launch->written, &views[k], timing))
            return false;
    }
    return true;
}

/* Replaces the counts of groups by their starts, and one past the last by the total, which it returns. */
static int64_t prefix(uint64_t *counts, size_t groups)
{
    uint64_t sum = 0;
    for (size_t k = 0; k <= groups; k++) {
        const uint64_t count = counts[k];
        counts[k] = sum;
        sum += k < groups ? count : 0;
    }
    return (int64_t)sum;
}

/* Returns the number of kept rows and leaves the groups' starts in SCRATCH_SLOTS; -1 on failure. */
static int64_t count_rows(const struct results *results, struct launch *launch)
{
    struct accelerator *accelerator = launch->accelerator;
    struct slots slots;
    uint64_t *starts = run_for_slots(launch, KERNEL_COUNT, &launch->plan->kept, &slots, results->flagged);
    if (!starts)
        return -1;

    const int64_t kept = prefix(starts, slots.groups);
    const size_t bytes = (slots.groups + 1) * sizeof *starts;
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
    if (launch->plan->roles[KERNEL_WRITE] && launch->written > 0 && !*results->flagged &&
        !write_rows(results, launch)) {
        /* Some columns of the piece may be resident where others are not: all are written again. */
        columns_discard(results->sink->columns, launch->plan->emitter.task->output_count, results->sink->rows);
        return STATUS_UNABLE;
    }
    results->sink->rows += launch->written;
    return STATUS_OK;
}

/* Views rows begin .. end-1 of an input; there may be none. */
static bool view_rows(const struct execution *execution, size_t input, int64_t begin, int64_t end, struct view *view)
{
    struct memory *memory = execution->accelerator->memory;
    const struct job *job = execution->job;
    if (begin < end)
        return memory_input(memory, job->columns[input], begin, end - begin, job->timing, view);
    *view = (struct view){.buffer = memory_flag(memory)};
    return view->buffer;
}

/* Views the rows of column k that a piece reads. */
static bool view_input(const struct execution *execution, size_t k, int64_t row, int64_t rows,
                       struct launch_input *input)
{
    const struct emitter *emitter = &execution->plan->emitter;
    struct rows_read read = rows_read(execution, k, row, rows);
    input->low = read.before;
    input->high = emitter->access[k] == ACCESS_ANY ? read.end : rows + read.after;
    if (!view_rows(execution, emitter->inputs[k], read.begin, read.end, &input->view))
        return false;
    input->view.first += (cl_ulong)-input->low;
    return true;
}

/* Begins to upload the inputs of the next piece. */
static void begin_next_upload(const struct execution *execution, int64_t row, int64_t rows)
{
    const struct emitter *emitter = &execution->plan->emitter;
    struct memory *memory = execution->accelerator->memory;
    bool fits = true;
    for (size_t k = 0; k < emitter->column_count && fits; k++) {
        struct rows_read read = rows_read(execution, k, row, rows);
        if (read.begin < read.end && emitter->access[k] != ACCESS_ANY)
            fits =
                memory_prefetch(memory, execution->job->columns[emitter->inputs[k]], read.begin, read.end - read.begin);
    }
    if (!fits) /* reported by the next piece if it matters */
        execution->accelerator->failure = (struct failure){0};
    memory_begin_prefetch(memory);
}

/* A piece of a range, and the rows of the next one. */
struct piece {
    int64_t row, rows, next;
    piece_fn *run;
};

static enum status run_piece(const struct results *results, const struct piece *piece)
{
    const struct execution *execution = results->execution;
    struct accelerator *accelerator = execution->accelerator;
    const struct job *job = execution->job;
    const struct emitter *emitter = &execution->plan->emitter;
    struct launch_input *inputs = arena_array(job->diags->arena, emitter->column_count + 1, sizeof *inputs);
    struct launch launch = {.accelerator = accelerator,
                            .plan = execution->plan,
                            .program = execution->program,
                            .job = job,
                            .row = piece->row,
                            .rows = piece->rows,
                            .inputs = inputs};
    enum status status = STATUS_OK;
    for (size_t k = 0; k < emitter->column_count && status == STATUS_OK; k++) {
        if (!view_input(execution, k, piece->row, piece->rows, &inputs[k]))
            status = STATUS_UNABLE;
    }
    if (status == STATUS_OK && piece->next > 0)
        begin_next_upload(execution, piece->row + piece->rows, piece->next);
    if (status == STATUS_OK)
        status = piece->run(results, &launch);
    if (status != STATUS_OK)
        clFinish(accelerator->queue); /* no kernel may still use host memory; the failure is already known */
    memory_done(accelerator->memory, job->timing);
    return status;
}

/* Plans uploads in pieces; columns stay resident if all that the task reads fits. Returns the rows of a piece. */
static int64_t plan_uploads(const struct execution *execution)
{
    const struct emitter *emitter = &execution->plan->emitter;
    const struct job *job = execution->job;
    struct memory *memory = execution->accelerator->memory;
    struct row_bytes bytes = row_bytes(execution);
    int64_t rows = job->end - job->begin, all = (job->until > 0 ? job->until : job->rows) - job->begin;
    if (bytes.inputs == 0 || is_resident(execution, job->begin, rows))
        return INT64_MAX;
    const bool brief = bytes.inputs > available_bytes(execution) / 4 * 3 / all;
    memory_stream(memory, brief);
    if (brief)
        return min_int64(piece_rows(&bytes), in_units(available_bytes(execution) / (2 * bytes.inputs + bytes.outputs)));
    for (size_t k = 0; k < emitter->column_count; k++) {
        /* A short range is probably all that is wanted. */
        struct rows_read read = rows_read(execution, k, job->begin, rows < piece_rows(&bytes) / 4 ? rows : all);
        const int64_t most = (int64_t)execution->accelerator->device.largest_buffer / column_size(emitter, k);
        if (read.begin < read.end && read.end - read.begin <= most)
            memory_expect(memory, job->columns[emitter->inputs[k]], read.begin, read.end - read.begin);
    }
    return piece_rows(&bytes);
}

static enum status run_pieces(struct results *results, piece_fn *run)
{
    const struct execution *execution = results->execution;
    struct accelerator *accelerator = execution->accelerator;
    struct failure *failure = &accelerator->failure;
    const struct job *job = execution->job;
    int64_t most = execute_most_rows(execution), range = launch_first_range(execution->plan);
    results->keep_on_device = row_bytes(execution).outputs <= available_bytes(execution) / 2 / (job->rows + 1);
    if (!execution->plan->config->host_memory)
        most = min_int64(most, plan_uploads(execution));
    for (int64_t row = job->begin; row < job->end && !*results->flagged;) {
        const int64_t began = now_ns();
        struct piece piece = {.row = row, .rows = min_int64(min_int64(most, range), job->end - row), .run = run};
        if (!execution->plan->config->host_memory)
            piece.next = min_int64(min_int64(most, range), job->end - row - piece.rows);
        if (job->cancel && *job->cancel)
            return STATUS_CANCELLED;
        const enum status status = run_piece(results, &piece);
        if (status == STATUS_OK) {
            row += piece.rows;
            range = launch_next_range(execution->plan, range, now_ns() - began);
        } else if (!failure->call) {
            return status;
        } else if (!cl_error_is_memory(failure->code) || piece.rows <= FEWEST_ROWS) {
            return cl_report(failure, accelerator->device.name, job->diags);
        } else {
            *failure = (struct failure){0};
            memory_drop(accelerator->memory);
            most = piece.rows / 2 / ROW_UNIT * ROW_UNIT;
        }
    }
    return STATUS_OK;
}

enum status execute_aggregate(const struct execution *execution, struct agg_state *states, bool *flagged)
{
    struct results results = {execution, states, NULL, flagged, false};
    return run_pieces(&results, aggregate_piece);
}

enum status execute_rows(const struct execution *execution, struct row_sink *sink, bool *flagged)
{
    struct results results = {execution, NULL, sink, flagged, false};
    return run_pieces(&results, rows_piece);
}
