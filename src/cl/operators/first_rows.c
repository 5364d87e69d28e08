#include "cl/operators/first_rows.h"

extern const char kernel_first_rows[];

enum { FIND, EMPTY, COUNT, LIST, NUMBER, KERNELS };

/* A table indexed by key code is used unless it is much larger than a hash table would be. */
static bool is_dense(const struct group_keys *group_keys, int64_t rows)
{
    enum { FEW = 1 << 16 };
    return group_keys->dense_size > 0 &&
           (group_keys->dense_size <= FEW || group_keys->dense_size <= 2 * (uint64_t)rows);
}

/* At most half full, for short probe sequences. */
static uint64_t table_size(const struct group_keys *group_keys, int64_t rows)
{
    uint64_t size = 1024;
    if (is_dense(group_keys, rows))
        return group_keys->dense_size;
    while (size < 2 * (uint64_t)rows)
        size *= 2;
    return size;
}

static const char *first_rows_text(const struct group_keys *group_keys, int64_t rows,
                                   const struct kernel_config *config, struct arena *arena)
{
    const struct key_hash_text hash = group_keys_hash_text(group_keys, arena);
    const struct hole holes[] = {
        {"dense", is_dense(group_keys, rows) ? "1" : ""},
        {"keys", hash.keys},
        {"hash", hash.hash},
        {"same", hash.same},
        {0},
    };
    return group_keys_kernels(group_keys, kernel_first_rows, holes, config, arena);
}

static void run_find(struct first_rows *found, const struct group_keys *group_keys, uint64_t size)
{
    struct operator_run *run = &found->run;
    struct arguments empty = {.arena = run->job->diags->arena}, find = empty;
    const int64_t rows = run->job->rows;
    argument_buffer(&empty, found->table);
    row_loop(run, EMPTY, &empty, (int64_t)size, row_loop_groups(run->accelerator, (int64_t)size), "empty",
             sizeof(cl_uint));
    group_keys_arguments(group_keys, run, &find);
    argument_buffer(&find, found->table);
    argument_uint(&find, size - 1);
    argument_buffer(&find, found->slots);
    row_loop(run, FIND, &find, rows, row_loop_groups(run->accelerator, rows), "find",
             group_keys_bytes(group_keys) + (int64_t)sizeof(cl_uint));
}

/* Reserves the list. */
static bool make_rows(struct first_rows *found)
{
    struct operator_run *run = &found->run;
    found->rows = column_reserve(TYPE_U32, TYPE_U32, found->count);
    run->unable = !found->rows;
    return found->rows && memory_output(run->accelerator->memory, found->rows, 0, found->count, &found->listed);
}

/* Counts the first rows of each tile, then lists them. */
static void run_list(struct first_rows *found, int64_t most)
{
    enum { SHARE = 16 }; /* rows of a work-item: one cache line */
    struct operator_run *run = &found->run;
    const struct kernel_config *config = run->accelerator->config;
    struct arguments arguments = {.arena = run->job->diags->arena};
    int64_t rows = run->job->rows, bytes = rows * 2 * (int64_t)sizeof(cl_uint);
    const size_t items = ((size_t)rows + SHARE - 1) / SHARE, groups = (items + config->group - 1) / config->group;
    cl_mem tiles = operator_buffer(run, groups * sizeof(cl_uint));
    argument_buffer(&arguments, found->table);
    argument_buffer(&arguments, found->slots);
    argument_buffer(&arguments, tiles);
    struct arguments list = arguments_copy(&arguments);
    argument_ulong(&arguments, (uint64_t)rows);
    argument_ulong(&arguments, SHARE);
    operator_run(run, COUNT, groups, config->group, &arguments, "count", bytes);
    found->count = operator_sum_exclusive(run, tiles, groups);
    if (found->count > most)
        run->unable = true;
    if (operator_stopped(run) || !make_rows(found))
        return;
    argument_view(&list, &found->listed);
    argument_ulong(&list, (uint64_t)rows);
    argument_ulong(&list, SHARE);
    operator_run(run, LIST, groups, config->group, &list, "list", bytes);
}

void first_rows_fetch(struct first_rows *found)
{
    struct operator_run *run = &found->run;
    if (operator_stopped(run))
        return;
    memory_fetch(run->accelerator->memory, found->rows, 0, found->count, &found->listed, run->job->timing);
    column_finish(found->rows, found->count);
}

void first_rows_find(struct first_rows *found, struct accelerator *accelerator, const struct operator_job *job,
                     const struct group_keys *group_keys, int64_t most)
{
    static const char *const names[KERNELS] = {
        [FIND] = "find", [EMPTY] = "empty", [COUNT] = "count", [LIST] = "list", [NUMBER] = "number",
    };
    const char *text = first_rows_text(group_keys, job->rows, accelerator->config, job->diags->arena);
    const uint64_t size = table_size(group_keys, job->rows);
    *found = (struct first_rows){.run = operator_begin(accelerator, job, text, names, KERNELS)};
    if (size * sizeof(cl_uint) > accelerator->device.largest_buffer) {
        found->run.unable = true;
        return;
    }
    found->table = operator_buffer(&found->run, size * sizeof(cl_uint));
    found->slots = operator_buffer(&found->run, (size_t)job->rows * sizeof(cl_uint));
    run_find(found, group_keys, size);
    run_list(found, most);
}

void first_rows_number(struct first_rows *found)
{
    struct operator_run *run = &found->run;
    struct arguments arguments = {.arena = run->job->diags->arena};
    argument_buffer(&arguments, found->table);
    argument_buffer(&arguments, found->slots);
    argument_view(&arguments, &found->listed);
    row_loop(run, NUMBER, &arguments, found->count, row_loop_groups(run->accelerator, found->count), "number",
             3 * (int64_t)sizeof(cl_uint));
}

enum status first_rows_end(struct first_rows *found)
{
    column_unref(found->rows);
    found->rows = NULL;
    return operator_end(&found->run);
}
