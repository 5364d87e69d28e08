#include "cl/task/launch.h"

#include "cl/codegen/kernel_text.h"
#include "cl/codegen/literal.h"
#include "cl/codegen/loop_terms.h"
#include "cl/device/kernel_arguments.h"
#include "cl/device/wait.h"

#include "base/integer.h"
#include "engine/plan/code_loop.h"
#include "engine/plan/task_title.h"

struct grid {
    size_t groups;
    cl_ulong chunk; /* rows of a group, if they are contiguous */
};

static struct grid grid_of(const struct launch *launch, enum kernel_role role)
{
    const struct kernel_config *config = launch->plan->config;
    const int64_t most = (int64_t)(launch->accelerator->device.units * config->groups);
    int64_t groups = divide_up(launch->rows, kernel_least_rows(launch->plan));
    int64_t chunk = 0;
    const bool only_writes = role == KERNEL_WRITE;
    if (role == KERNEL_WRITE && launch->plan->listed) {
        /* Some groups for each unit: rows are few, or all may have many terms. */
        enum { GROUPS = 8 };
        chunk = launch->rows / (int64_t)launch->accelerator->device.units * GROUPS;
        chunk = chunk < 1 ? 1 : min_int64(chunk, (int64_t)config->group);
        groups = divide_up(launch->rows, chunk);
    } else if (role == KERNEL_TERMS) {
        enum { GROUPS = 8 };
        groups = min_int64(launch->rows, (int64_t)launch->accelerator->device.units * GROUPS);
    } else if (only_writes && kernel_in_one_pass(launch->plan)) {
        groups = divide_up(launch->rows, (int64_t)kernel_tile_rows(launch->plan, role));
    } else if (kernel_in_tiles(launch->plan, role)) {
        int64_t tile = (int64_t)(config->group * config->tile), tiles = divide_up(divide_up(launch->rows, tile), most);
        chunk = tile * (tiles < 1 ? 1 : tiles > (int64_t)config->tiles ? (int64_t)config->tiles : tiles);
        groups = divide_up(launch->rows, chunk);
    } else if (groups > most && !only_writes) {
        groups = most;
    }
    return (struct grid){groups > 0 ? (size_t)groups : 1, (cl_ulong)chunk};
}

size_t launch_groups(const struct launch *launch, enum kernel_role role)
{
    return grid_of(launch, role).groups;
}

size_t launch_list_bytes(const struct kernel_plan *plan, int64_t rows)
{
    return plan->listed ? ((size_t)rows + TERMS_LIST_BEGIN) * sizeof(cl_uint) : 0;
}

bool launch_clear_list(struct accelerator *accelerator, cl_mem list, size_t bytes)
{
    static const cl_uint none = 0;
    return bytes == 0 ||
           cl_ok(&accelerator->failure, "clEnqueueFillBuffer",
                 clEnqueueFillBuffer(accelerator->queue, list, &none, sizeof none, 0, bytes, 0, NULL, NULL));
}

size_t launch_tiles(const struct launch *launch)
{
    return grid_of(launch, KERNEL_WRITE).groups;
}

int64_t launch_accumulator_rows(const struct launch *launch, enum kernel_role role)
{
    const struct kernel_config *config = launch->plan->config;
    struct grid grid = grid_of(launch, role);
    const int64_t items = (int64_t)config->group;
    return grid.chunk > 0 ? divide_up((int64_t)grid.chunk, items)
                          : divide_up(launch->rows, (int64_t)grid.groups * items);
}

static void view_argument(struct kernel_arguments *arguments, const struct view *view)
{
    kernel_argument(arguments, sizeof(cl_mem), &view->buffer);
    kernel_argument(arguments, sizeof(cl_ulong), &view->first);
}

static void input_arguments(struct kernel_arguments *arguments, const struct launch *launch)
{
    const struct emitter *emitter = &launch->plan->emitter;
    cl_long total = launch->job->rows;
    for (size_t k = 0; k < emitter->column_count; k++) {
        const struct launch_input *input = &launch->inputs[k];
        cl_long low = input->low, high = input->high;
        view_argument(arguments, &input->view);
        if (emitter->access[k] == ACCESS_NEIGHBOURS)
            kernel_argument(arguments, sizeof low, &low);
        if (emitter->access[k] != ACCESS_ROW)
            kernel_argument(arguments, sizeof high, &high);
    }
    for (size_t k = 0; k < emitter->neighbour_count; k++) {
        cl_long offset = emitter->task->code.at[emitter->neighbours[k]].offset;
        kernel_argument(arguments, sizeof offset, &offset);
    }
    if (emitter->total)
        kernel_argument(arguments, sizeof total, &total);
}

static void literal_arguments(struct kernel_arguments *arguments, const struct emitter *emitter)
{
    for (size_t k = 0; k < emitter->literal_count; k++) {
        size_t bytes;
        union literal_argument literal = literal_argument(emitter, &emitter->literals[k], &bytes);
        kernel_argument(arguments, bytes, &literal);
    }
}

static void float_sum_arguments(struct kernel_arguments *arguments, const struct float_sum_levels *levels)
{
    kernel_argument(arguments, sizeof levels->largest, &levels->largest);
    for (int k = 0; k < LEVEL_COUNT; k++)
        kernel_argument(arguments, sizeof levels->constant[k], &levels->constant[k]);
    for (int k = 0; k < LEVEL_COUNT; k++)
        kernel_argument(arguments, sizeof levels->unit[k], &levels->unit[k]);
}

/* Arguments between the literals and the row number, by role; see kernel_plan.h. */
static void role_arguments(struct kernel_arguments *arguments, const struct launch *launch, enum kernel_role role,
                           cl_mem slots)
{
    const struct kernel_plan *plan = launch->plan;
    const struct task *task = plan->emitter.task;
    switch (role) {
    case KERNEL_FLOAT_SUMS:
        for (size_t k = 0; k < plan->float_sums.count; k++) {
            if (plan->float_sums.at[k].kind == ACC_LEVEL0)
                float_sum_arguments(arguments, &launch->levels[plan->float_sums.at[k].aggregate]);
        }
        kernel_argument(arguments, sizeof slots, &slots);
        break;
    case KERNEL_WRITE:
    case KERNEL_TERMS:
        for (size_t k = 0; k < task->output_count; k++) {
            if (task->outputs[k].needed)
                view_argument(arguments, &launch->outputs[k]);
        }
        if (task->filter_count > 0 || plan->listed)
            kernel_argument(arguments, sizeof slots, &slots);
        break;
    case KERNEL_AGGREGATE:
        for (size_t k = 0; k < task->output_count && task->sink == SINK_ROWS; k++) {
            if (task->outputs[k].needed)
                view_argument(arguments, &launch->outputs[k]);
        }
        kernel_argument(arguments, sizeof slots, &slots);
        break;
    case KERNEL_COUNT:
    case KERNEL_COMBINE:
    case KERNEL_ROLE_COUNT:
        kernel_argument(arguments, sizeof slots, &slots);
        break;
    }
}

bool launch_set_arguments(const struct launch *launch, enum kernel_role role, cl_kernel kernel, cl_mem slots,
                          cl_mem flag)
{
    const struct emitter *emitter = &launch->plan->emitter;
    struct kernel_arguments arguments = {kernel, 0, &launch->accelerator->failure};
    cl_long row = launch->row;
    const bool one_pass = role == KERNEL_WRITE && kernel_in_one_pass(launch->plan);
    cl_ulong rows = (cl_ulong)launch->rows, chunk = one_pass ? launch->epoch : grid_of(launch, role).chunk;
    input_arguments(&arguments, launch);
    literal_arguments(&arguments, emitter);
    for (size_t k = 0; k < launch->plan->aggregates.function_count; k++)
        literal_arguments(&arguments, &launch->plan->aggregates.functions[k].emitter);
    role_arguments(&arguments, launch, role, slots);
    kernel_argument(&arguments, sizeof row, &row);
    kernel_argument(&arguments, sizeof rows, &rows);
    kernel_argument(&arguments, sizeof chunk, &chunk);
    kernel_argument(&arguments, sizeof flag, &flag);
    return !arguments.failure->call;
}

bool launch_set_combine(const struct launch *launch, const struct launch *tail, const struct view *elements,
                        cl_kernel kernel, cl_mem slots, cl_mem flag)
{
    const struct kernel_plan *plan = launch->plan;
    const struct task *task = plan->round->elements;
    const cl_long first = 0;
    struct kernel_arguments arguments = {kernel, 0, &launch->accelerator->failure};
    cl_ulong groups = plan->roles[KERNEL_AGGREGATE] ? launch_groups(launch, KERNEL_AGGREGATE) : 0;
    cl_ulong rows = (cl_ulong)launch->rows;
    for (size_t k = 0; k < task->output_count; k++) {
        if (task->outputs[k].needed)
            view_argument(&arguments, &elements[k]);
    }
    kernel_argument(&arguments, sizeof slots, &slots);
    kernel_argument(&arguments, sizeof groups, &groups);
    kernel_argument(&arguments, sizeof rows, &rows);
    if (tail) {
        input_arguments(&arguments, tail);
        literal_arguments(&arguments, &tail->plan->emitter);
        kernel_argument(&arguments, sizeof first, &first);
    }
    kernel_argument(&arguments, sizeof flag, &flag);
    return !arguments.failure->call;
}

/* On a GPU FIRST_RANGE is about as many rows as run at once: fewer would not take less time. */
enum {
    FIRST_RANGE = 1 << 18,
    FIRST_OF_ROUNDS = 1 << 21,
    LEAST_RANGE = 1 << 12,
    FEWEST_OF_CPU = 1 << 8,
    LEAST_NS = 20000000,
    MOST_NS = 60000000
};

/* Whether all loops are those of `repeat ... while`, which has some thousand rounds at most
 * (engine/loop/bind_repeat.c): folds may have any number of terms. */
static bool rounds_are_limited(const struct emitter *emitter)
{
    const struct code *code = &emitter->task->code;
    const uint32_t *levels = code_levels(code, emitter->arena);
    for (value v = 0; v < code->count; v++) {
        if (emitter->live[v] && code->at[v].op == OP_LOOP && (levels[v] != 0 || loop_is_counted(code, v)))
            return false;
    }
    return true;
}

int64_t launch_first_range(const struct kernel_plan *plan)
{
    const int64_t some = plan->config->contiguous                                    ? FEWEST_OF_CPU
                         : plan->emitter.loops && rounds_are_limited(&plan->emitter) ? FIRST_OF_ROUNDS
                                                                                     : FIRST_RANGE;
    return plan->emitter.loops ? min_int64(some, plan->rows) : plan->rows;
}

int64_t launch_next_range(const struct kernel_plan *plan, int64_t rows, int64_t took_ns)
{
    if (plan->emitter.loops && took_ns < LEAST_NS)
        return min_int64(4 * rows, max_int64(plan->rows, rows));
    const int64_t least = plan->config->contiguous ? FEWEST_OF_CPU : LEAST_RANGE;
    if (plan->emitter.loops && took_ns > MOST_NS)
        return max_int64(rows / 2 / least * least, min_int64(rows, least));
    return rows;
}

cl_uint launch_first_argument(const struct emitter *emitter, size_t column)
{
    cl_uint at = 1;
    for (size_t k = 0; k < column; k++)
        at += emitter->access[k] == ACCESS_ROW ? 2 : emitter->access[k] == ACCESS_ANY ? 3 : 4;
    return at;
}

static size_t literal_bytes(const struct emitter *emitter)
{
    size_t bytes = 0;
    for (size_t k = 0; k < emitter->literal_count; k++)
        bytes += emitter->literals[k].divisor ? sizeof(struct long_divisor) : sizeof(cl_long);
    return bytes;
}

size_t launch_parameter_bytes(const struct kernel_plan *plan)
{
    const struct emitter *emitter = &plan->emitter;
    size_t bytes = emitter->column_count * (sizeof(cl_mem) + 3 * sizeof(cl_ulong)) + literal_bytes(emitter);
    bytes += (emitter->neighbour_count + emitter->total) * sizeof(cl_long);
    for (size_t k = 0; k < plan->aggregates.function_count; k++)
        bytes += literal_bytes(&plan->aggregates.functions[k].emitter);
    bytes += plan->float_sums.count / 4 * sizeof(struct float_sum_levels);
    if (emitter->task->sink == SINK_ROWS)
        bytes += emitter->task->output_count * (sizeof(cl_mem) + sizeof(cl_ulong));
    return bytes + 5 * sizeof(cl_ulong);
}

/* Bytes moved, at least: data read of some rows only counts for rows that are written. */
static int64_t bytes_moved(const struct launch *launch, enum kernel_role role)
{
    const struct kernel_plan *plan = launch->plan;
    const struct task *task = plan->emitter.task;
    struct arena *arena = launch->job->diags->arena;
    const size_t every = kernel_row_bytes(plan, role, arena);
    int64_t bytes = (int64_t)every * launch->rows;
    if (role != KERNEL_WRITE)
        return bytes;
    bytes += (int64_t)(emit_row_bytes(&plan->emitter, kernel_needs[role], arena) - every) * launch->written;
    for (size_t k = 0; k < task->output_count; k++) {
        if (task->outputs[k].needed)
            bytes += (int64_t)type_table[plan->stores[k]].size * launch->written;
    }
    return bytes;
}

/* Adds the device time under the task's title and, if it has several kernels, the name of this one. */
static bool add_timing(const struct launch *launch, enum kernel_role role, cl_event event)
{
    struct failure *failure = &launch->accelerator->failure;
    struct timing *timing = launch->job->timing;
    cl_ulong start = 0, end = 0;
    if (!timing || launch->accelerator->queue != launch->accelerator->queues[true])
        return true;
    if (!cl_ok(failure, "clGetEventProfilingInfo",
               clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL)) ||
        !cl_ok(failure, "clGetEventProfilingInfo",
               clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL)))
        return false;
    const char *title = stages_title(launch->job->task, timing->arena);
    const bool alone = role == KERNEL_AGGREGATE ||
                       (role == KERNEL_WRITE && !launch->plan->roles[KERNEL_COUNT] && !launch->plan->listed);
    if (!alone)
        title = arena_printf(timing->arena, "%s: %s", title, kernel_names[role]);
    timing_add(timing, PHASE_KERNEL, title, (int64_t)(end - start), bytes_moved(launch, role));
    return true;
}

/* The commands of a launch: the kernel, and what is read behind it. */
struct commands {
    cl_event kernel, last; /* may be the same */
    cl_int *raised;        /* in pinned memory; NULL: the flag is not read */
};

static bool enqueue_read(struct accelerator *accelerator, cl_mem buffer, size_t bytes, void *to, cl_event *event)
{
    if (*event)
        clReleaseEvent(*event);
    *event = NULL;
    return cl_ok(&accelerator->failure, "clEnqueueReadBuffer",
                 clEnqueueReadBuffer(accelerator->queue, buffer, CL_FALSE, 0, bytes, to, 0, NULL, event));
}

static bool enqueue(const struct launch *launch, enum kernel_role role, cl_mem flag, struct readback *readback,
                    struct commands *commands)
{
    struct accelerator *accelerator = launch->accelerator;
    const struct grid grid = grid_of(launch, role);
    const size_t local = kernel_group(launch->plan, role), global = grid.groups * local;
    const size_t bytes = readback ? readback->bytes : 0;
    cl_ulong *pinned = memory_pinned(accelerator->memory, sizeof *pinned + bytes);
    if (!cl_ok(&accelerator->failure, "clEnqueueNDRangeKernel",
               clEnqueueNDRangeKernel(accelerator->queue, launch->program->kernels[role], 1, NULL, &global, &local, 0,
                                      NULL, &commands->kernel)))
        return false;
    if (launch->plan->emitter.checks) {
        commands->raised = (cl_int *)pinned;
        if (!enqueue_read(accelerator, flag, sizeof *commands->raised, commands->raised, &commands->last))
            return false;
    }
    if (readback)
        readback->at = pinned + 1;
    return bytes == 0 || enqueue_read(accelerator, readback->buffer, bytes, pinned + 1, &commands->last);
}

/* Says that a raised flag has been seen: it is always 0 between launches. */
static bool clear_flag(struct accelerator *accelerator, cl_mem flag)
{
    static const cl_int none = 0;
    return cl_ok(&accelerator->failure, "clEnqueueWriteBuffer",
                 clEnqueueWriteBuffer(accelerator->queue, flag, CL_TRUE, 0, sizeof none, &none, 0, NULL, NULL));
}

bool launch_kernel(struct launch *launch, enum kernel_role role, cl_mem slots, struct readback *readback, bool *flagged)
{
    struct accelerator *accelerator = launch->accelerator;
    cl_mem flag = memory_flag(accelerator->memory);
    struct commands commands = {NULL, NULL, NULL};
    if (!flag || !launch_set_arguments(launch, role, launch->program->kernels[role], slots, flag))
        return false;
    bool done = enqueue(launch, role, flag, readback, &commands) &&
                cl_ok(&accelerator->failure, "clWaitForEvents",
                      wait_for_command(accelerator, commands.last ? commands.last : commands.kernel));
    if (done && commands.raised && *commands.raised) {
        *flagged = true;
        done = clear_flag(accelerator, flag);
    }
    if (role == KERNEL_WRITE && done && readback)
        launch->written = (int64_t)readback->at[0];
    done = done && (launch->rows == 0 || add_timing(launch, role, commands.kernel));
    if (commands.last)
        clReleaseEvent(commands.last);
    if (commands.kernel)
        clReleaseEvent(commands.kernel);
    return done;
}

/* Kernels without rows accept any buffer as a column. */
bool launch_warm_up(struct accelerator *accelerator, const struct kernel_plan *plan, struct program *program,
                    const struct job *job)
{
    const struct emitter *emitter = &plan->emitter;
    const struct task *task = emitter->task;
    const size_t slots = plan->aggregates.count + plan->float_sums.count + 2;
    const size_t most = emitter->column_count + task->output_count + 1;
    struct view *views = arena_array(emitter->arena, most, sizeof *views);
    struct launch_input *inputs = arena_array(emitter->arena, most, sizeof *inputs);
    struct float_sum_levels *levels = arena_array(emitter->arena, task->aggregate_count + 1, sizeof *levels);
    struct launch launch = {.accelerator = accelerator,
                            .plan = plan,
                            .program = program,
                            .job = job,
                            .inputs = inputs,
                            .outputs = views,
                            .levels = levels};
    struct thread_signals before;
    bool flagged = false, done = true;
    views[0].buffer = memory_scratch(accelerator->memory, SCRATCH_SLOTS, slots * sizeof(uint64_t));
    if (!views[0].buffer)
        return false;
    for (size_t k = 0; k < most; k++) {
        views[k] = views[0];
        inputs[k].view = views[0];
    }
    signals_hold_interrupt(&before);
    for (int role = 0; role < KERNEL_ROLE_COUNT && done; role++)
        done = !plan->roles[role] || launch_kernel(&launch, (enum kernel_role)role, views[0].buffer, NULL, &flagged);
    signals_restore(&accelerator->signals);
    signals_release(&before);
    program->launched = done;
    return done;
}
