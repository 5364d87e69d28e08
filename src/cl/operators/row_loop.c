#include "cl/operators/row_loop.h"

#include "base/integer.h"
#include "engine/sorting/sort_keys.h"

#include <unistd.h>

bool columns_fit(const struct accelerator *accelerator, struct column *const *columns, size_t count, int64_t rows)
{
    const struct device *device = &accelerator->device;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), sum = 0;
    if (rows >= INT64_C(0xffffffff))
        return false;
    for (size_t k = 0; k < count; k++) {
        if (!columns[k]) /* not read by any needed output */
            continue;
        const size_t bytes = (size_t)rows * type_table[columns[k]->store].size + page;
        if (bytes > device->largest_buffer)
            return false;
        sum += bytes;
    }
    return accelerator->config->host_memory || sum <= device->memory / 2;
}

struct gathering {
    const uint32_t *rows;
    struct column *const *from, *const *to;
    size_t count;
};

static void gather_part(void *context, struct part part)
{
    const struct gathering *gathering = context;
    uint64_t rows[KEY_BLOCK];
    for (int64_t at = part.begin; at < part.end; at += KEY_BLOCK) {
        const int count = part.end - at < KEY_BLOCK ? (int)(part.end - at) : KEY_BLOCK;
        for (int i = 0; i < count; i++)
            rows[i] = gathering->rows[at + i];
        for (size_t k = 0; k < gathering->count; k++) {
            if (gathering->to[k])
                column_gather(gathering->from[k], rows, count, column_at(gathering->to[k], at));
        }
    }
}

enum status gather_listed(const struct workers *workers, const struct column *rows, struct column *const *from,
                          struct column *const *to, size_t count)
{
    enum { PART_ROWS = 1 << 15 };
    struct gathering gathering = {rows->data, from, to, count};
    if (!workers_run_rows(workers, rows->rows, PART_ROWS, gather_part, &gathering))
        return STATUS_CANCELLED;
    for (size_t k = 0; k < count; k++) {
        if (to[k])
            column_finish(to[k], rows->rows);
    }
    return STATUS_OK;
}

void argument_column(struct arguments *arguments, struct operator_run *run, struct column *column, int64_t rows)
{
    struct view view = {0};
    if (!operator_stopped(run))
        memory_input(run->accelerator->memory, column, 0, rows, run->job->timing, &view);
    argument_view(arguments, &view);
}

const char row_loop_text[] = "for (ulong i = begin + get_group_id(0) * chunk + get_local_id(0), "
                             "stop = min(end, begin + (get_group_id(0) + 1) * chunk); i < stop; "
                             "i += get_local_size(0))";

const char *row_loop_atomic_load(const struct kernel_config *config)
{
    return config->plain_loads ? "*cell" : "atomic_or(cell, 0)";
}

size_t row_loop_groups(const struct accelerator *accelerator, int64_t rows)
{
    const struct kernel_config *config = accelerator->config;
    size_t most = accelerator->device.units * config->groups, wanted = (size_t)(rows / config->min_group_rows) + 1;
    return wanted < most ? wanted : most;
}

void row_loop_of(struct operator_run *run, size_t kernel, const struct arguments *arguments, int64_t rows,
                 size_t groups, size_t local, const char *what, int64_t row_bytes)
{
    const struct kernel_config *config = run->accelerator->config;
    for (int64_t begin = 0; begin < rows && !operator_stopped(run); begin += config->launch_rows) {
        const int64_t end = rows - begin < config->launch_rows ? rows : begin + config->launch_rows;
        const int64_t chunk = divide_up(end - begin, (int64_t)(groups * local)) * (int64_t)local;
        struct arguments all = arguments_copy(arguments);
        argument_ulong(&all, (uint64_t)begin);
        argument_ulong(&all, (uint64_t)end);
        argument_ulong(&all, (uint64_t)chunk);
        operator_run(run, kernel, groups, local, &all, what, (end - begin) * row_bytes);
    }
}

void row_loop(struct operator_run *run, size_t kernel, const struct arguments *arguments, int64_t rows, size_t groups,
              const char *what, int64_t row_bytes)
{
    row_loop_of(run, kernel, arguments, rows, groups, run->accelerator->config->group, what, row_bytes);
}
