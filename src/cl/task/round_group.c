#include "cl/task/round_steps.h"

#include "cl/codegen/round_group_text.h"
#include "cl/device/kernel_arguments.h"

#include "base/integer.h"

enum { ADD, FINISH, KERNELS };
static const char *const names[KERNELS] = {"add", "finish"};

struct grouping {
    const struct job *job;
    struct column *const *written;
    struct column *key;
    struct column **values; /* of which there are sums, */
    size_t value_count;
    size_t *value_of; /* for each aggregate; not of counts */
    int64_t keys, rows;
    size_t sums, parts; /* sums: one for each key and value, at least one for each key */
    cl_ulong chunk;     /* rows of a part */
};

/* The column of which an aggregate is. */
static struct column *value_of(const struct job *job, size_t aggregate)
{
    const value v = job->task->aggregates[aggregate].value;
    return v == NO_VALUE || job->task->code.at[v].op != OP_INPUT || job->task->code.at[v].offset != 0
               ? NULL
               : job->columns[job->task->code.at[v].integer];
}

/* Finds the columns to be added up. Returns false for other aggregates. */
static bool find_values(struct grouping *grouping, struct arena *arena)
{
    const struct task *task = grouping->job->task;
    grouping->values = arena_array(arena, task->aggregate_count + 1, sizeof *grouping->values);
    grouping->value_of = arena_array(arena, task->aggregate_count + 1, sizeof *grouping->value_of);
    for (size_t k = 0; k < task->aggregate_count; k++) {
        const struct aggregate *aggregate = &task->aggregates[k];
        if (!grouping->written[1 + k] || aggregate->kind == AGG_COUNT)
            continue;
        struct column *column = value_of(grouping->job, k);
        if (!aggregate_table[aggregate->kind].sums || aggregate->has_initial || !column || column->store != TYPE_F64 ||
            column->type != TYPE_F64)
            return false;
        size_t at = 0;
        while (at < grouping->value_count && grouping->values[at] != column)
            at++;
        grouping->value_of[k] = at;
        grouping->values[at] = column;
        grouping->value_count += at == grouping->value_count;
    }
    return true;
}

/* Divides the work into sums and parts of the rows. Returns false if it is too much. */
static bool divide(struct grouping *grouping, const struct accelerator *accelerator)
{
    enum { MOST_VALUES = 120, GROUPS = 8, LEAST_ROWS = 8 };
    const struct kernel_config *config = accelerator->config;
    const int64_t rows = grouping->rows;
    const int64_t most = config->contiguous ? INT64_C(1) << 24 : INT64_C(1) << 32; /* elements that are looked at */

    grouping->sums = (size_t)grouping->keys * (grouping->value_count > 0 ? grouping->value_count : 1);
    if (grouping->value_count > MOST_VALUES || rows == 0 || rows > INT32_MAX || grouping->keys > most / rows ||
        (int64_t)grouping->sums > most / rows)
        return false;
    const int64_t groups = (int64_t)accelerator->device.units * GROUPS;
    const int64_t parts =
        min_int64(max_int64(groups / (int64_t)grouping->sums, 1), divide_up(rows, LEAST_ROWS * (int64_t)config->group));
    grouping->chunk = (cl_ulong)divide_up(rows, parts);
    grouping->parts = (size_t)divide_up(rows, (int64_t)grouping->chunk);
    return true;
}

static enum type *stores_of(const struct grouping *grouping, struct arena *arena)
{
    const size_t count = grouping->job->task->output_count;
    enum type *stores = arena_array(arena, count + 1, sizeof *stores);
    for (size_t k = 0; k < count; k++)
        stores[k] = grouping->written[k] ? grouping->written[k]->store : TYPE_I64;
    return stores;
}

/* ---- arguments ---- */

static void set_column(struct kernel_arguments *arguments, struct backend_rounds *rounds, const struct column *column,
                       size_t parity)
{
    const struct view *view = rounds_view_at(rounds, column, parity);
    kernel_argument(arguments, sizeof view->buffer, &view->buffer);
    kernel_argument(arguments, sizeof view->first, &view->first);
}

static bool set_arguments(struct backend_rounds *rounds, const struct round_step *step, const struct grouping *grouping,
                          size_t which, size_t parity)
{
    const cl_long low = grouping->key->lo;
    const cl_uint sums = (cl_uint)grouping->sums, parts = (cl_uint)grouping->parts;
    const cl_ulong rows = (cl_ulong)grouping->rows;
    struct kernel_arguments arguments = {step->kernels[which].kernels[parity], 0, &rounds->accelerator->failure};
    if (which == ADD) {
        set_column(&arguments, rounds, grouping->key, parity);
        kernel_argument(&arguments, sizeof low, &low);
        for (size_t k = 0; k < grouping->value_count; k++)
            set_column(&arguments, rounds, grouping->values[k], parity);
        kernel_argument(&arguments, sizeof step->slots, &step->slots);
        kernel_argument(&arguments, sizeof sums, &sums);
        kernel_argument(&arguments, sizeof parts, &parts);
        kernel_argument(&arguments, sizeof grouping->chunk, &grouping->chunk);
        kernel_argument(&arguments, sizeof rows, &rows);
    } else {
        for (size_t k = 0; k < grouping->job->task->output_count; k++) {
            if (grouping->written[k])
                set_column(&arguments, rounds, grouping->written[k], parity);
        }
        kernel_argument(&arguments, sizeof step->slots, &step->slots);
        kernel_argument(&arguments, sizeof parts, &parts);
        kernel_argument(&arguments, sizeof low, &low);
    }
    kernel_argument(&arguments, sizeof rounds->flag, &rounds->flag);
    return !arguments.failure->call;
}

static bool open_kernel(struct backend_rounds *rounds, struct round_step *step, const struct grouping *grouping,
                        size_t which)
{
    struct failure *failure = &rounds->accelerator->failure;
    struct round_kernel *kernel = &step->kernels[step->kernel_count++];
    cl_int code = CL_SUCCESS;
    *kernel = (struct round_kernel){.role = KERNEL_AGGREGATE,
                                    .groups = which == ADD ? grouping->sums * grouping->parts : grouping->sums};
    for (size_t parity = 0; parity < 2; parity++) {
        kernel->kernels[parity] = clCreateKernel(step->program->program, names[which], &code);
        if (!cl_ok(failure, "clCreateKernel", code) || !set_arguments(rounds, step, grouping, which, parity))
            return false;
    }
    cl_uint count = 0;
    code = clGetKernelInfo(kernel->kernels[0], CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL);
    kernel->round = count - 1;
    return cl_ok(failure, "clGetKernelInfo", code);
}

bool round_group_open(struct backend_rounds *rounds, struct round_step *step)
{
    struct accelerator *accelerator = rounds->accelerator;
    const struct job *job = step->task->job;
    struct grouping grouping = {.job = job,
                                .written = step->task->written,
                                .key = job->columns[job->task->column_op->keys[0]],
                                .keys = step->task->groups,
                                .rows = job->rows};
    if (!find_values(&grouping, rounds->arena) || !divide(&grouping, accelerator) ||
        !rounds_open_input(rounds, grouping.key))
        return false;
    for (size_t k = 0; k < grouping.value_count; k++) {
        if (!rounds_open_input(rounds, grouping.values[k]))
            return false;
    }
    const struct round_group group = {.task = job->task,
                                      .outputs = stores_of(&grouping, rounds->arena),
                                      .key = grouping.key->store,
                                      .value_count = grouping.value_count,
                                      .value_of = grouping.value_of};
    const int64_t began = now_ns();
    step->plan.config = accelerator->config;
    step->range = job->rows;
    step->program = program_of_text(accelerator, round_group_text(&group, accelerator->config, rounds->arena), names,
                                    KERNELS, rounds->job.diags);
    timing_add(rounds->job.timing, PHASE_BUILD, "round", now_ns() - began, 0);
    step->slot_bytes = grouping.sums * grouping.parts * ROUND_GROUP_WORDS * sizeof(cl_ulong);
    step->slots = step->program ? memory_buffer(accelerator->memory, step->slot_bytes) : NULL;
    return step->slots && open_kernel(rounds, step, &grouping, ADD) && open_kernel(rounds, step, &grouping, FINISH);
}
