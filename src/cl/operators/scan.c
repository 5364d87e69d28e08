/* Scan: chunks are reduced, their totals scanned, and then each chunk is scanned from its prefix; on NVIDIA GPUs in one
 * pass with look-back. Columns larger than the device are scanned in slabs. */

#include "cl/codegen/literal.h"
#include "cl/operators/operator.h"
#include "cl/operators/operator_run.h"
#include "cl/operators/scan_text.h"

#include "base/integer.h"

#include <unistd.h>

struct scan {
    struct operator_run *run;
    const struct operator_job *job;
    const struct kernel_config *config;
    struct scan_text text;
    struct column *from, *to;
    cl_mem flag, totals, carry;
    int64_t chunks; /* maximum; the size of totals */
};

enum { MOST_ARGUMENTS = 96, FEWEST_LINES = 64, ITEMS_A_UNIT = 2048, SCAN_GROUPS = 8 };

/* `$parameters` of scan_text.h. */
static void add_parameters(const struct scan *scan, struct arguments *arguments)
{
    const struct aggregate *aggregate = &scan->job->task->aggregates[0];
    const struct emitter *emitter = &scan->text.function.emitter;
    const cl_double number = aggregate->initial.number, terms = 4 * (double)scan->job->rows + 8;
    if (scan->text.is_float)
        argument_add(arguments, sizeof number, &number);
    else
        argument_ulong(arguments, (uint64_t)aggregate->initial.integer);
    argument_uint(arguments, aggregate->has_initial);
    if (scan->text.is_float)
        argument_add(arguments, sizeof terms, &terms);
    for (size_t k = 0; k < scan->text.literals; k++) {
        size_t bytes;
        const union literal_argument literal = literal_argument(emitter, &emitter->literals[k], &bytes);
        argument_add(arguments, bytes, &literal);
    }
}

static size_t size_in(const struct scan *scan)
{
    return type_table[scan->from->store].size;
}

static size_t size_out(const struct scan *scan)
{
    return type_table[scan->to->store].size;
}

static void run_carries(const struct scan *scan, bool first, int64_t chunks)
{
    struct arguments arguments = {.arena = scan->job->diags->arena};
    argument_buffer(&arguments, scan->totals);
    argument_buffer(&arguments, scan->carry);
    add_parameters(scan, &arguments);
    argument_uint(&arguments, first);
    argument_uint(&arguments, (uint64_t)chunks);
    argument_buffer(&arguments, scan->flag);
    operator_enqueue(scan->run, SCAN_CARRIES, 1, scan->config->group, &arguments, "join",
                     2 * chunks * (int64_t)sizeof(cl_long));
}

/* Runs SCAN_TOTALS, or SCAN_ROWS if `out` is given. */
static void run_chunks(const struct scan *scan, const struct view *in, const struct view *out, int64_t row,
                       int64_t rows, int64_t chunk)
{
    struct arguments arguments = {.arena = scan->job->diags->arena};
    const size_t bytes = size_in(scan) + (out ? size_out(scan) : 0);
    argument_view(&arguments, in);
    if (out)
        argument_view(&arguments, out);
    argument_buffer(&arguments, scan->totals);
    add_parameters(scan, &arguments);
    argument_ulong(&arguments, (uint64_t)row);
    argument_ulong(&arguments, (uint64_t)rows);
    argument_ulong(&arguments, (uint64_t)chunk);
    argument_ulong(&arguments, (uint64_t)scan->job->task->column_op->segment);
    argument_buffer(&arguments, scan->flag);
    operator_enqueue(scan->run, out ? SCAN_ROWS : SCAN_TOTALS, (size_t)divide_up(rows, chunk), scan->config->group,
                     &arguments, out ? "scan" : "totals", (int64_t)bytes * rows);
}

/* Scans in one pass. */
static void run_lookback(const struct scan *scan, const struct view *in, const struct view *out, int64_t row,
                         int64_t rows)
{
    struct arguments arguments = {.arena = scan->job->diags->arena};
    const size_t tiles = (size_t)divide_up(rows, (int64_t)(scan->text.group * scan->text.items));
    cl_ulong epoch = 0;
    cl_mem words = memory_tiles(scan->run->accelerator->memory, SCRATCH_STATES, 2 * tiles, &epoch);
    argument_view(&arguments, in);
    argument_view(&arguments, out);
    argument_buffer(&arguments, words);
    argument_ulong(&arguments, epoch);
    argument_buffer(&arguments, scan->carry);
    add_parameters(scan, &arguments);
    argument_uint(&arguments, row == 0);
    argument_ulong(&arguments, (uint64_t)rows);
    argument_buffer(&arguments, scan->flag);
    operator_enqueue(scan->run, SCAN_LOOKBACK, tiles, scan->text.group, &arguments, "scan",
                     (int64_t)(size_in(scan) + size_out(scan)) * rows);
}

static bool scan_slab(const struct scan *scan, int64_t row, int64_t rows, bool *flagged)
{
    struct memory *memory = scan->run->accelerator->memory;
    struct view in, out;
    const int64_t unit = (int64_t)(scan->config->group * scan->text.items);
    const int64_t chunk = divide_up(divide_up(rows, scan->chunks), unit) * unit;
    if (!memory_input(memory, scan->from, row, rows, scan->job->timing, &in) ||
        !memory_output(memory, scan->to, row, rows, &out))
        return false;
    if (scan->text.lookback) {
        run_lookback(scan, &in, &out, row, rows);
    } else {
        run_chunks(scan, &in, NULL, row, rows, chunk);
        run_carries(scan, row == 0, divide_up(rows, chunk));
        run_chunks(scan, &in, &out, row, rows, chunk);
    }
    *flagged = operator_raised(scan->run, scan->flag) || *flagged;
    return !operator_stopped(scan->run) && memory_keep(memory, scan->to, row, rows, &out, scan->job->timing);
}

/* Returns the rows of a slab. */
static int64_t slab_rows(const struct scan *scan, const struct device *device)
{
    const size_t widest = size_in(scan) > size_out(scan) ? size_in(scan) : size_out(scan);
    int64_t rows =
        min_int64(scan->config->launch_rows, (int64_t)(device->largest_buffer / widest) - sysconf(_SC_PAGESIZE));
    if (!scan->config->host_memory)
        rows = min_int64(rows, (int64_t)(device->memory / 5 * 4 / (size_in(scan) + size_out(scan))));
    return rows < 4096 ? 4096 : rows / 4096 * 4096;
}

static void scan_slabs(struct scan *scan, bool *flagged)
{
    struct memory *memory = scan->run->accelerator->memory;
    const int64_t most = slab_rows(scan, &scan->run->accelerator->device);
    if (!scan->text.lookback)
        scan->totals = operator_buffer(scan->run, (size_t)scan->chunks * SCAN_STATE_BYTES);
    scan->carry = operator_buffer(scan->run, SCAN_STATE_BYTES);
    for (int64_t row = 0; row < scan->job->rows && !operator_stopped(scan->run); row += most) {
        if (!scan_slab(scan, row, min_int64(most, scan->job->rows - row), flagged))
            return;
        memory_done(memory, scan->job->timing);
    }
}

/* ---- scans along columns ---- */

struct columns {
    const struct scan *scan;
    struct view in, out;
    cl_ulong width, lines, items;
};

static void run_columns(const struct columns *columns, enum scan_kernel kernel)
{
    const struct scan *scan = columns->scan;
    struct arguments arguments = {.arena = scan->job->diags->arena};
    cl_ulong rows = (cl_ulong)scan->job->rows;
    bool writes = kernel == SCAN_COLUMN_ROWS, carries = kernel == SCAN_COLUMN_CARRIES;
    const size_t bytes = size_in(scan) + (writes ? size_out(scan) : 0);
    cl_ulong threads = carries ? columns->width : columns->items;
    if (!carries)
        argument_view(&arguments, &columns->in);
    if (writes)
        argument_view(&arguments, &columns->out);
    argument_buffer(&arguments, scan->totals);
    add_parameters(scan, &arguments);
    if (!carries)
        argument_ulong(&arguments, rows);
    argument_ulong(&arguments, columns->width);
    if (!carries)
        argument_ulong(&arguments, columns->lines);
    argument_ulong(&arguments, columns->items);
    argument_buffer(&arguments, scan->flag);
    operator_enqueue(scan->run, kernel, (size_t)divide_up((int64_t)threads, (int64_t)scan->config->group),
                     scan->config->group, &arguments,
                     carries  ? "join"
                     : writes ? "scan"
                              : "totals",
                     carries ? 0 : (int64_t)(rows * bytes));
}

/* Uses enough work-items to fill the device, each with enough rows of its column to pay. */
static void scan_columns(struct scan *scan, bool *flagged)
{
    const struct device *device = &scan->run->accelerator->device;
    struct memory *memory = scan->run->accelerator->memory;
    int64_t rows = scan->job->rows, width = scan->job->task->column_op->stride;
    int64_t lines = divide_up(rows, width), blocks = divide_up((int64_t)device->units * ITEMS_A_UNIT, width);
    int64_t each = divide_up(lines, blocks);
    struct columns columns = {.scan = scan};
    each = each < FEWEST_LINES ? FEWEST_LINES : each;
    columns.width = (cl_ulong)width;
    columns.lines = (cl_ulong)each;
    columns.items = (cl_ulong)(divide_up(lines, each) * width);
    scan->totals = operator_buffer(scan->run, (size_t)columns.items * SCAN_STATE_BYTES);
    if (operator_stopped(scan->run) || !memory_input(memory, scan->from, 0, rows, scan->job->timing, &columns.in) ||
        !memory_output(memory, scan->to, 0, rows, &columns.out))
        return;
    run_columns(&columns, SCAN_COLUMN_TOTALS);
    run_columns(&columns, SCAN_COLUMN_CARRIES);
    run_columns(&columns, SCAN_COLUMN_ROWS);
    *flagged = operator_raised(scan->run, scan->flag) || *flagged;
    if (!operator_stopped(scan->run))
        memory_keep(memory, scan->to, 0, rows, &columns.out, scan->job->timing);
}

/* ---- */

/* Whether integer sums may exceed 64 bits. The text depends on no more of the column's range, so that similar data uses
 * the same program. */
static bool may_overflow(const struct operator_job *job, const struct column *from)
{
    const struct aggregate *aggregate = &job->task->aggregates[0];
    const struct type_info *info = &type_table[from->store];
    const bool known = from->range_known && from->rows > 0;
    int128 lo = known && from->lo > info->lo ? from->lo : info->lo;
    int128 hi = known && from->hi < info->hi ? from->hi : info->hi;
    int128 initial = aggregate->has_initial ? aggregate->initial.integer : 0;
    return lo * job->rows + initial < INT64_MIN || hi * job->rows + initial > INT64_MAX || lo * job->rows < INT64_MIN ||
           hi * job->rows > INT64_MAX;
}

static bool supports(const struct accelerator *accelerator, const struct operator_job *job)
{
    const struct column_operator *column_op = job->task->column_op;
    const struct column *from = job->inputs[column_op->keys[0]];
    const bool number = type_table[from->store].kind == KIND_FLOAT;
    if (number && !accelerator->device.doubles)
        return false;
    /* On a CPU each core would stride through all of memory. */
    return column_op->stride <= 1 || (!accelerator->config->contiguous && column_op->segment == 0);
}

enum status cl_scan(struct accelerator *accelerator, const struct operator_job *job, bool *flagged)
{
    const struct column_operator *column_op = job->task->column_op;
    const struct aggregate *aggregate = &job->task->aggregates[0];
    const struct kernel_config *config = accelerator->config;
    struct scan scan = {.job = job, .config = config, .from = job->inputs[column_op->keys[0]], .to = job->results[0]};
    *job->result_rows = job->rows;
    if (!supports(accelerator, job))
        return STATUS_UNABLE;
    if (aggregate->has_initial && !scalar_fits(&aggregate->initial)) {
        *flagged = true;
        return STATUS_OK;
    }
    if (!scan.to || job->rows == 0)
        return STATUS_OK;
    if (!scan_text_make(&scan.text, job, accelerator, may_overflow(job, scan.from)) ||
        scan.text.literals + 16 > MOST_ARGUMENTS ||
        (column_op->stride > 1 && slab_rows(&scan, &accelerator->device) < job->rows))
        return STATUS_UNABLE;

    struct operator_run run = operator_begin(accelerator, job, scan.text.text, scan.text.names, SCAN_KERNEL_COUNT);
    scan.run = &run;
    scan.chunks = (int64_t)accelerator->device.units * (config->contiguous ? (int64_t)config->groups : SCAN_GROUPS);
    scan.flag = memory_flag(accelerator->memory);
    if (column_op->stride > 1)
        scan_columns(&scan, flagged);
    else
        scan_slabs(&scan, flagged);
    return operator_end(&run);
}
