/* Moving aggregates: of these a device has the rows that lead their groups. */
#include "cl/operators/group_keys.h"
#include "cl/operators/operator.h"

extern const char kernel_leading[];

enum { CLEAR, FIND, COUNT, NEXT, MARK, KERNELS };

enum { CODE_BYTES = 2 * sizeof(cl_ulong) };

struct leading {
    struct operator_run run;
    struct group_keys keys; /* the number of a row's group */
    struct column *values, *present;
    struct view codes, counts;
    int64_t groups;
};

/* A key of the operator, or NULL. */
static struct column *key_of(const struct operator_job *job, enum moving_key wanted)
{
    const struct column_operator *column_op = job->task->column_op;
    size_t at = 0;
    for (int key = 0; key < (int)wanted; key++)
        at += column_op->moving.has[key];
    return column_op->moving.has[wanted] ? job->inputs[column_op->keys[at]] : NULL;
}

static const char *leading_text(const struct leading *leading, const struct moving_operator *op,
                                const struct kernel_config *config, struct arena *arena)
{
    const struct key_encoding *encoding = &key_encodings[leading->values->store];
    const struct hole holes[] = {
        {"columns", arena_printf(arena, "    __global const %s *values, ulong values_first,%s\n", encoding->cl_type,
                                 leading->present ? " __global const uchar *present, ulong present_first," : "")},
        {"present", leading->present ? "present[present_first + i] == 0 ? 0 :" : ""},
        {"word", encoding->wide ? "ulong" : "uint"},
        {"encode", encoding->function},
        {"smallest", op->smallest ? "1" : ""},
        {"ones", !encoding->is_float ? ""
                 : encoding->wide    ? "0xfffffffffffffffful"
                                     : "0xffffffffu"},
        {0},
    };
    return group_keys_kernels(&leading->keys, kernel_leading, holes, config, arena);
}

/* The arguments of a kernel over the rows, up to the codes. */
static struct arguments row_arguments(struct leading *leading)
{
    struct operator_run *run = &leading->run;
    struct arguments arguments = {.arena = run->job->diags->arena};
    group_keys_arguments(&leading->keys, run, &arguments);
    argument_column(&arguments, run, leading->values, run->job->rows);
    if (leading->present)
        argument_column(&arguments, run, leading->present, run->job->rows);
    argument_buffer(&arguments, leading->codes.buffer);
    return arguments;
}

static void loop(struct leading *leading, size_t kernel, const struct arguments *arguments, int64_t rows,
                 const char *what)
{
    const int64_t bytes = group_keys_bytes(&leading->keys) + (int64_t)type_table[leading->values->store].size;
    row_loop(&leading->run, kernel, arguments, rows, row_loop_groups(leading->run.accelerator, rows), what,
             rows == leading->run.job->rows ? bytes : CODE_BYTES);
}

/* Finds the last code that leads, of each group. */
static void find_codes(struct leading *leading, int64_t count)
{
    struct operator_run *run = &leading->run;
    struct arguments clear = {.arena = run->job->diags->arena}, next;
    struct arguments find = row_arguments(leading), tally = arguments_copy(&find);
    cl_mem flag = operator_buffer(run, sizeof(cl_uint));
    const cl_uint none = 0;
    bool more = true;
    operator_write(run, flag, sizeof none, &none);
    argument_buffer(&clear, leading->codes.buffer);
    argument_buffer(&clear, leading->counts.buffer);
    next = arguments_copy(&clear);
    argument_uint(&next, (uint64_t)count);
    argument_buffer(&next, flag);
    argument_buffer(&tally, leading->counts.buffer);
    loop(leading, CLEAR, &clear, leading->groups, "clear");
    while (more && !operator_stopped(run)) {
        loop(leading, FIND, &find, run->job->rows, "find");
        loop(leading, COUNT, &tally, run->job->rows, "count");
        loop(leading, NEXT, &next, leading->groups, "next");
        more = operator_raised(run, flag);
    }
}

static void mark(struct leading *leading, struct column *to)
{
    struct operator_run *run = &leading->run;
    struct memory *memory = run->accelerator->memory;
    struct view marks;
    if (operator_stopped(run) || !memory_output(memory, to, 0, run->job->rows, &marks))
        return;
    struct arguments arguments = row_arguments(leading);
    argument_view(&arguments, &marks);
    loop(leading, MARK, &arguments, run->job->rows, "mark");
    if (!operator_stopped(run))
        memory_keep(memory, to, 0, run->job->rows, &marks, run->job->timing);
}

/* Finds how many groups there are. */
static enum status number_groups(struct leading *leading, struct accelerator *accelerator,
                                 const struct operator_job *job, struct column *groups)
{
    const struct key_encoding *encoding = &key_encodings[groups->store];
    struct column_minmax bounds;
    enum status status = column_minmax_bounds(accelerator, job, groups, &bounds);
    if (status == STATUS_OK && decode_integer(encoding, bounds.most) >= job->rows)
        status = column_minmax_measure(accelerator, job, groups, &bounds);
    if (status != STATUS_OK)
        return status;
    leading->groups = decode_integer(encoding, bounds.most) + 1;
    leading->keys = (struct group_keys){
        .parts = arena_alloc(job->diags->arena, sizeof *leading->keys.parts),
        .count = 1,
        .dense_size = (uint64_t)leading->groups,
    };
    *leading->keys.parts = (struct key_part){.encoded = {groups, encoding, encode_integer(encoding, 0)},
                                             .codes = (uint64_t)leading->groups};
    return leading->groups < UINT32_MAX ? STATUS_OK : STATUS_UNABLE;
}

/* A round for each of few codes takes 5 ms for 10^8 rows. */
enum status cl_moving(struct accelerator *accelerator, const struct operator_job *job, bool *flagged)
{
    enum { MOST_LEADING = 8 };
    static const char *const names[KERNELS] = {
        [CLEAR] = "clear", [FIND] = "find", [COUNT] = "count", [NEXT] = "next", [MARK] = "mark"};
    const struct moving_operator *op = &job->task->column_op->moving;
    struct leading leading = {.values = key_of(job, MOVING_VALUES), .present = key_of(job, MOVING_PRESENT)};
    struct column *groups = key_of(job, MOVING_GROUPS), *read[] = {leading.values, leading.present, groups};
    (void)flagged;
    if (op->kind != AGG_LEADING || op->leading > MOST_LEADING || !groups || !job->results[0] || job->rows == 0 ||
        !accelerator->config->shared_tables || !accelerator->device.long_atomics ||
        !columns_fit(accelerator, read, sizeof read / sizeof *read, job->rows))
        return STATUS_UNABLE;
    const enum status status = number_groups(&leading, accelerator, job, groups);
    if (status != STATUS_OK)
        return status;
    leading.run = operator_begin(accelerator, job, leading_text(&leading, op, accelerator->config, job->diags->arena),
                                 names, KERNELS);
    leading.codes.buffer = operator_buffer(&leading.run, (size_t)leading.groups * CODE_BYTES);
    leading.counts.buffer = operator_buffer(&leading.run, (size_t)leading.groups * sizeof(cl_uint));
    find_codes(&leading, op->leading);
    mark(&leading, job->results[0]);
    *job->result_rows = job->rows;
    return operator_end(&leading.run);
}
