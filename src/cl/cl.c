#include "cl/cl.h"

#include "cl/accelerator_open.h"
#include "cl/codegen/kernel_text.h"
#include "cl/memory/memory.h"
#include "cl/operators/key_ranks.h"
#include "cl/operators/key_search.h"
#include "cl/operators/operator.h"
#include "cl/start.h"
#include "cl/task/execute.h"
#include "cl/task/launch.h"
#include "cl/task/plan_program.h"
#include "cl/task/rounds.h"

#include "base/heap.h"
#include "engine/plan/task_title.h"

#include <stdlib.h>
#include <string.h>

/* A query shorter than PATIENCE_NS does not start a device. After that the device is started if the rest of the task
 * takes longer than START_COST_NS (both grow alike under load); after MAX_PATIENCE_NS of any number of queries, always.
 * Where the device can only be the CPU, its driver and compiler take the time of the evaluator's threads for little
 * that these do not do as fast: then it has to be CPU_COST times as long. */
enum { PATIENCE_NS = 15000000, START_COST_NS = 60000000, MAX_PATIENCE_NS = 1000000000, CPU_COST = 10 };
enum { OPERATOR_ROW_NS = 10 }; /* about what the host takes to sort or group a row */

struct cl_backend {
    struct backend base;
    char *choice;
    char *identity; /* the device's name and its driver's, once started */
    struct start *start;
    int64_t cost;                    /* of starting, times START_COST_NS */
    int64_t wanted_since;            /* when a task that does not wait first wanted the device; 0: not yet */
    bool started;                    /* starting has finished, with this result: */
    struct accelerator *accelerator; /* owned by `start`; NULL: there is no device */

    /* The task prepared last. */
    struct kernel_plan plan;
    struct program *program; /* NULL: no kernels, or not built */
};

static struct cl_backend *of_backend(struct backend *backend)
{
    return (struct cl_backend *)backend;
}

static void started(struct cl_backend *cl)
{
    cl->started = true;
    cl->accelerator = start_accelerator(cl->start);
    if (cl->accelerator)
        cl->base.name = cl->accelerator->device.name;
}

/* Waits until OpenCL has started; reports why it cannot be used if starting failed. */
static enum status start(struct cl_backend *cl, struct timing *timing, const atomic_int *cancel, struct diags *diags)
{
    const char *hint;
    if (!cl->started) {
        const int64_t began = now_ns();
        if (!start_wait(cl->start, cancel))
            return STATUS_CANCELLED;
        started(cl);
        timing_add(timing, PHASE_BUILD, "OpenCL started", now_ns() - began, 0);
    }
    if (cl->accelerator) {
        accelerator_set_timed(cl->accelerator, timing && !timing->host_only);
        return STATUS_OK;
    }
    const bool any = strcmp(cl->choice, "auto") == 0;
    const char *why_not = start_error(cl->start, &hint);
    if (any)
        diag_note(diags, (struct span){0}, "%s", why_not);
    else
        (void)diag_error(diags, (struct span){0}, "%s", why_not);
    diag_hint(diags, "%s", hint);
    return any ? STATUS_UNABLE : STATUS_FAILED;
}

static struct execution execution_of(const struct cl_backend *cl, const struct job *job)
{
    return (struct execution){cl->accelerator, &cl->plan, cl->program, job};
}

/* Makes the plan; `columns` are the output columns, NULL if they do not exist yet. */
static enum status make_plan(struct cl_backend *cl, const struct job *job, struct column *const *columns)
{
    const struct task *task = job->task;
    struct arena *arena = job->diags->arena;
    enum type *inputs = arena_array(arena, task->input_count + 1, sizeof *inputs);
    enum type *outputs = arena_array(arena, task->output_count + 1, sizeof *outputs);
    for (size_t k = 0; k < task->input_count; k++)
        inputs[k] = job->columns[k] ? job->columns[k]->store : task->inputs[k].type;
    for (size_t k = 0; k < task->output_count && task->sink == SINK_ROWS; k++) {
        if (task->outputs[k].needed)
            outputs[k] =
                columns && columns[k] ? columns[k]->store : output_store(task, &task->outputs[k], job->columns);
    }
    cl->program = NULL;
    if (!kernel_plan_make(&cl->plan, task, cl->accelerator->config, inputs, outputs, arena))
        return STATUS_UNABLE; /* depends on the order of rows, such as a product of floats: not worth a note */
    const struct execution execution = execution_of(cl, job);
    if (!execute_fits(&execution))
        return STATUS_UNABLE;
    const char *lacks = plan_limit(&cl->plan, &cl->accelerator->device);
    if (!lacks)
        return STATUS_OK;
    diag_note(job->diags, (struct span){0}, "part of the query runs without OpenCL: %s", lacks);
    return STATUS_UNABLE;
}

static bool has_kernels(const struct kernel_plan *plan)
{
    for (size_t role = 0; role < KERNEL_ROLE_COUNT; role++) {
        if (plan->roles[role])
            return true;
    }
    return false;
}

/* Finds or builds the plan's program. */
static enum status make_program(struct cl_backend *cl, const struct job *job)
{
    struct accelerator *accelerator = cl->accelerator;
    const int64_t began = now_ns();
    const char *name = "cached";
    if (has_kernels(&cl->plan)) {
        accelerator->no_wait = false;
        accelerator->cancel = job->cancel;
        cl->program = program_for(accelerator, &cl->plan, job->diags);
        if (!cl->program)
            return job->cancel && *job->cancel ? STATUS_CANCELLED : STATUS_UNABLE;
        if (!cl->program->launched) {
            if (!launch_warm_up(accelerator, &cl->plan, cl->program, job))
                return cl_report(&accelerator->failure, accelerator->device.name, job->diags);
            name = stages_title(job->task, job->diags->arena);
        }
        timing_add(job->timing, PHASE_BUILD, name, now_ns() - began, 0);
    }
    return STATUS_OK;
}

static enum status cl_prepare(struct backend *backend, const struct job *job)
{
    struct cl_backend *cl = of_backend(backend);
    enum status status = start(cl, job->timing, job->cancel, job->diags);
    if (status == STATUS_OK)
        status = make_plan(cl, job, NULL);
    return status == STATUS_OK ? make_program(cl, job) : status;
}

/* Leaves the prepared task as it is. */
static enum readiness begin_program(struct cl_backend *cl, const struct job *job)
{
    const struct cl_backend before = *cl;
    const size_t diag_count = job->diags->count;
    enum readiness readiness = BACKEND_UNABLE;
    if (make_plan(cl, job, NULL) == STATUS_OK)
        readiness = has_kernels(&cl->plan) ? program_begin(cl->accelerator, &cl->plan) : BACKEND_READY;
    job->diags->count = diag_count;
    cl->plan = before.plan;
    cl->program = before.program;
    return readiness;
}

/* Whether the device has been wanted for long enough to start it. Loading drivers slows down queries that run
 * meanwhile, above all by page faults: one of a few milliseconds would take several times as long. */
static bool is_due(struct cl_backend *cl, int64_t left_ns)
{
    const int64_t now = now_ns();
    if (cl->wanted_since == 0)
        cl->wanted_since = now;
    const int64_t waited = now - cl->wanted_since;
    return waited > cl->cost * MAX_PATIENCE_NS || (waited > PATIENCE_NS && left_ns > cl->cost * START_COST_NS);
}

/* Starts the device `at_once`, or when that is due for a task with left_ns to run; returns how far it is. */
static enum readiness begin_device(struct cl_backend *cl, bool at_once, int64_t left_ns)
{
    if (at_once || is_due(cl, left_ns))
        start_begin(cl->start);
    if (!cl->started && !start_finished(cl->start))
        return BACKEND_PENDING;
    if (!cl->started)
        (void)start_wait(cl->start, NULL);
    started(cl);
    return cl->accelerator ? BACKEND_READY : BACKEND_UNABLE;
}

static enum readiness cl_begin(struct backend *backend, const struct job *job)
{
    struct cl_backend *cl = of_backend(backend);
    const enum readiness readiness = begin_device(cl, !job, job ? job->left_ns : 0);
    return readiness == BACKEND_READY && job ? begin_program(cl, job) : readiness;
}

static int64_t cl_range_rows(struct backend *backend, const struct job *job)
{
    const struct execution execution = execution_of(of_backend(backend), job);
    return execute_most_rows(&execution);
}

static enum status cl_aggregate(struct backend *backend, const struct job *job, struct agg_state *states, bool *flagged)
{
    const struct execution execution = execution_of(of_backend(backend), job);
    return execute_aggregate(&execution, states, flagged);
}

/* Whether the columns are laid out as the program writes them. */
static bool fits(const struct kernel_plan *plan, const struct task *task, struct column *const *columns)
{
    for (size_t k = 0; k < task->output_count; k++) {
        if (task->outputs[k].needed && columns[k]->store != plan->stores[k])
            return false;
    }
    return true;
}

static enum status cl_rows(struct backend *backend, const struct job *job, struct row_sink *sink, bool *flagged)
{
    struct cl_backend *cl = of_backend(backend);
    if (!fits(&cl->plan, job->task, sink->columns)) {
        enum status status = make_plan(cl, job, sink->columns);
        if (status == STATUS_OK)
            status = make_program(cl, job);
        if (status != STATUS_OK)
            return status;
    }
    const struct execution execution = execution_of(cl, job);
    return execute_rows(&execution, sink, flagged);
}

static bool cl_suits(const struct backend *backend, enum operator_kind kind)
{
    const struct cl_backend *cl = (const struct cl_backend *)backend;
    return !cl->accelerator || cl_operator_pays(kind, cl->accelerator->config);
}

/* Starts the device for an operator. */
static enum status begin_operator(struct cl_backend *cl, const struct operator_job *job)
{
    if (job->no_wait && begin_device(cl, false, job->rows * OPERATOR_ROW_NS) == BACKEND_PENDING)
        return STATUS_UNABLE;
    const enum status status = start(cl, job->timing, job->cancel, job->diags);
    if (status != STATUS_OK)
        return status;
    cl->accelerator->no_wait = job->no_wait;
    cl->accelerator->cancel = job->cancel;
    return STATUS_OK;
}

/* Operators that do not suit the device go to the host without a note. */
static enum status cl_run_operator(struct backend *backend, const struct operator_job *job, bool *flagged)
{
    struct cl_backend *cl = of_backend(backend);
    const enum operator_kind kind = job->task->column_op->kind;
    const enum status status = begin_operator(cl, job);
    if (status != STATUS_OK)
        return status;
    if (!cl_operator(kind) || !cl_suits(backend, kind))
        return STATUS_UNABLE;
    return cl_operator(kind)(cl->accelerator, job, flagged);
}

typedef enum status index_fn(struct accelerator *accelerator, const struct operator_job *job,
                             struct index_tables *tables);

static enum status run_index(struct backend *backend, const struct operator_job *job, struct index_tables *tables,
                             index_fn *fn)
{
    struct cl_backend *cl = of_backend(backend);
    const size_t diag_count = job->diags->count;
    enum status status = begin_operator(cl, job);
    if (status == STATUS_OK)
        status = fn(cl->accelerator, job, tables);
    if (status == STATUS_UNABLE)
        job->diags->count = diag_count;
    return status;
}

static enum status cl_index_ranges(struct backend *backend, const struct operator_job *job, struct index_tables *tables)
{
    return run_index(backend, job, tables, key_ranks_ranges);
}

static enum status cl_index_rows(struct backend *backend, const struct operator_job *job, struct index_tables *tables)
{
    return run_index(backend, job, tables, tables->begins ? key_search_index : key_ranks_index);
}

static struct backend_rounds *cl_open_rounds(struct backend *backend, const struct rounds_job *job)
{
    struct cl_backend *cl = of_backend(backend);
    if (start(cl, job->timing, job->cancel, job->diags) != STATUS_OK)
        return NULL;
    return rounds_open(cl->accelerator, job);
}

static const char *cl_source(struct backend *backend, const struct job *job)
{
    struct cl_backend *cl = of_backend(backend);
    const size_t diag_count = job->diags->count;
    if (start(cl, job->timing, job->cancel, job->diags) == STATUS_OK && make_plan(cl, job, NULL) == STATUS_OK)
        return kernel_plan_text(&cl->plan);
    job->diags->count = diag_count; /* explain falls back on another program: no error */
    return NULL;
}

static enum readiness cl_profile(struct backend *backend, bool wait, struct profile *profile)
{
    struct cl_backend *cl = of_backend(backend);
    if (!cl->started) {
        if (!wait && !start_finished(cl->start))
            return BACKEND_PENDING;
        start_wait(cl->start, NULL);
        started(cl);
    }
    if (!cl->accelerator)
        return BACKEND_UNABLE;
    const struct device *device = &cl->accelerator->device;
    if (!cl->identity) {
        struct strbuf text = {0};
        strbuf_printf(&text, "%s, %s", device->name, device->driver);
        cl->identity = text.text;
    }
    *profile = (struct profile){
        .class = cl->accelerator->config->host_memory ? CLASS_CPU : CLASS_GPU,
        .identity = cl->identity,
        .units = (int)device->units,
    };
    return BACKEND_READY;
}

static int64_t cl_absent(struct backend *backend, const struct column *column, int64_t begin, int64_t end)
{
    const struct cl_backend *cl = of_backend(backend);
    if (!cl->accelerator)
        return 0;
    return memory_missing(cl->accelerator->memory, column, begin, end - begin) *
           (int64_t)type_table[column->store].size;
}

static void cl_sweep(struct backend *backend)
{
    struct cl_backend *cl = of_backend(backend);
    if (cl->accelerator)
        memory_sweep(cl->accelerator->memory);
}

static void cl_close(struct backend *backend)
{
    struct cl_backend *cl = of_backend(backend);
    start_free(cl->start);
    free(cl->choice);
    free(cl->identity);
    free(cl);
}

struct backend *cl_open(const char *choice, struct opencl_process *process)
{
    static const struct backend_ops ops = {
        .begin = cl_begin,
        .prepare = cl_prepare,
        .range_rows = cl_range_rows,
        .aggregate = cl_aggregate,
        .rows = cl_rows,
        .open_rounds = cl_open_rounds,
        .rounds_on_device = true,
        .run_rounds = rounds_run,
        .finish_rounds = rounds_finish,
        .close_rounds = rounds_close,
        .run_operator = cl_run_operator,
        .index_ranges = cl_index_ranges,
        .index_rows = cl_index_rows,
        .source = cl_source,
        .profile = cl_profile,
        .suits = cl_suits,
        .absent = cl_absent,
        .sweep = cl_sweep,
        .close = cl_close,
    };
    if (!device_choice_valid(choice))
        return NULL;
    struct cl_backend *cl = heap_array(1, sizeof *cl);
    cl->choice = heap_text(choice);
    cl->start = start_new(choice, process);
    cl->cost = device_files_exist() ? 1 : CPU_COST;
    cl->base = (struct backend){.ops = &ops, .name = cl->choice};
    return &cl->base;
}

bool cl_expects_gpu(void)
{
    return device_files_exist();
}

static void describe_device(struct strbuf *out, const struct device *device)
{
    const char *lacks = device_lacks(device);
    device_title(device, out);
    strbuf_puts(out, ", ");
    strbuf_add_visible(out, device->driver, strlen(device->driver));
    strbuf_printf(out, ", %.1f GiB, at most %.1f in one buffer, %u compute unit%s", (double)device->memory / (1 << 30),
                  (double)device->largest_buffer / (1 << 30), device->units, device->units == 1 ? "" : "s");
    if (lacks)
        strbuf_printf(out, "; %s", lacks);
    strbuf_putc(out, '\n');
}

static struct device *find_devices(size_t *count, struct opencl_process *process, struct failure *failure)
{
    struct signals signals;
    struct thread_signals before;
    if (process)
        opencl_process_prepare(process);
    signals_record(&signals);
    signals_hold(&before);
    struct device *devices = devices_find(count, failure);
    signals_restore(process ? &process->signals : &signals);
    signals_release(&before);
    return devices;
}

size_t cl_numbers(size_t *numbers, size_t most, struct opencl_process *process)
{
    struct failure failure = {0};
    size_t count, usable = 0;
    struct device *devices = find_devices(&count, process, &failure);
    for (size_t k = 0; k < count && usable < most; k++) {
        if (device_usable(&devices[k]))
            numbers[usable++] = devices[k].number;
    }
    free(devices);
    return usable;
}

void cl_describe(struct strbuf *out, struct opencl_process *process)
{
    struct failure failure = {0};
    size_t count;
    struct device *devices = find_devices(&count, process, &failure);
    for (size_t k = 0; k < count; k++)
        describe_device(out, &devices[k]);
    if (failure.call)
        strbuf_printf(out, "%s gave %s (%d)\n", failure.call, cl_error_name(failure.code), failure.code);
    if (count == 0)
        strbuf_puts(out, "no OpenCL device: install a driver, as Debian's pocl-opencl-icd for the CPU; a GPU's own "
                         "driver brings a file for /etc/OpenCL/vendors\n");
    free(devices);
}
