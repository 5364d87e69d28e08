#include "cl/operators/group_quantile.h"

#include "cl/operators/operator.h"
#include "cl/operators/sort_columns.h"
#include "cl/operators/sort_text.h"

#include "base/heap.h"
#include "engine/sorting/sort_key_range.h"
#include "engine/sorting/sort_keys.h"
#include "engine/values/quantile.h"

#include <stdlib.h>
#include <string.h>

enum status group_quantile_ids(struct accelerator *accelerator, const struct operator_job *job, struct column **ids)
{
    struct arena *arena = job->diags->arena;
    struct task *task = arena_copy(arena, job->task, sizeof *task);
    struct column_operator *column_op = arena_copy(arena, task->column_op, sizeof *column_op);
    struct operator_job numbering = *job;
    int64_t rows = job->rows;
    bool flagged = false;
    if (!cl_operator_pays(OPERATOR_SORT, accelerator->config))
        return STATUS_UNABLE;
    column_op->kind = OPERATOR_IDS;
    task->column_op = column_op;
    numbering.task = task;
    numbering.results = ids;
    numbering.result_rows = &rows;
    *ids = column_reserve_from(job->pool, TYPE_U32, TYPE_U32, rows);
    const enum status status = *ids ? cl_ids(accelerator, &numbering, &flagged) : STATUS_UNABLE;
    if (status == STATUS_OK)
        column_finish(*ids, rows);
    return status;
}

/* The values by group, those that count first. */
static enum status sort_values(struct accelerator *accelerator, const struct operator_job *job, struct column *ids,
                               const struct aggregate *aggregate, struct column **values)
{
    enum { COLUMNS = 3 };
    struct column *columns[COLUMNS], *sorted[COLUMNS];
    bool descending[COLUMNS] = {false}, wanted[COLUMNS] = {false};
    size_t count = 0;
    if (aggregate->where != NO_VALUE) {
        descending[count] = true;
        columns[count++] = operator_input(job, aggregate->where);
    }
    columns[count++] = ids;
    wanted[count] = true;
    columns[count++] = operator_input(job, aggregate->value);
    const struct sorted_columns what = {.columns = columns,
                                        .descending = descending,
                                        .wanted = wanted,
                                        .count = count,
                                        .key_count = count,
                                        .rows = job->rows};
    const enum status status = sort_columns(accelerator, job, &what, sorted);
    *values = sorted[count - 1];
    return status;
}

/* Copies the listed rows of a column to the host. */
static enum status pick(struct accelerator *accelerator, const struct operator_job *job, struct column *from,
                        const uint32_t *rows, int64_t count, void *picked)
{
    static const char *const names[] = {"sort_gather"};
    struct arena *arena = job->diags->arena;
    struct strbuf text = {0};
    const size_t size = type_table[from->store].size;
    struct arguments arguments = {.arena = arena};
    sort_add_gather(&text, size, false, accelerator->config, arena);
    struct operator_run run = operator_begin(accelerator, job, text.text, names, 1);
    strbuf_free(&text);
    const struct view to = {operator_buffer(&run, (size_t)count * size), 0};
    cl_mem order = operator_buffer(&run, (size_t)count * sizeof *rows);
    operator_write(&run, order, (size_t)count * sizeof *rows, rows);
    argument_column(&arguments, &run, from, job->rows);
    argument_buffer(&arguments, order);
    argument_view(&arguments, &to);
    argument_ulong(&arguments, (uint64_t)count);
    operator_run(&run, 0, row_loop_groups(accelerator, count), accelerator->config->group, &arguments, "pick",
                 count * (int64_t)(2 * size + sizeof *rows));
    operator_read(&run, to.buffer, (size_t)count * size, picked);
    return operator_end(&run);
}

/* Two neighbours of each group: the rows of its quantile's place, or any. */
static void list_places(const struct column *counts, double share, uint32_t *rows)
{
    const int64_t *count = counts->data;
    int64_t begin = 0;
    for (int64_t group = 0; group < counts->rows; group++) {
        const struct quantile_place place =
            count[group] > 0 ? quantile_place(count[group], share) : (struct quantile_place){0};
        rows[2 * group] = (uint32_t)(count[group] > 0 ? begin + place.lower : 0);
        rows[2 * group + 1] = rows[2 * group] + (place.fraction > 0);
        begin += count[group];
    }
}

static void write_group(const struct aggregate *aggregate, enum type store, int64_t count, const uint64_t *images,
                        struct column *to, int64_t group)
{
    const bool number = type_table[store].kind == KIND_FLOAT;
    if (aggregate->lower) {
        const int64_t element = count > 0 ? sort_key_integer(images[0]) : 0;
        memcpy(column_at(to, group), &element, type_table[to->store].size); /* little-endian */
        return;
    }
    const double fraction = count > 0 ? quantile_place(count, aggregate->quantile).fraction : 0;
    const double quantile =
        count == 0 ? 0
        : number   ? quantile_of_floats(sort_key_number(store, images[0]), sort_key_number(store, images[1]), fraction)
                   : quantile_of_ints(sort_key_integer(images[0]), sort_key_integer(images[1]), fraction);
    memcpy(column_at(to, group), &quantile, sizeof quantile);
}

static void write_groups(const struct aggregate *aggregate, enum type store, const struct column *counts,
                         const void *picked, struct column *to)
{
    const int64_t *count = counts->data;
    uint64_t images[KEY_BLOCK];
    for (int64_t group = 0; group < counts->rows; group += KEY_BLOCK / 2) {
        const int some = (int)min_int64(counts->rows - group, KEY_BLOCK / 2);
        sort_key_encode((const char *)picked + (size_t)group * 2 * type_table[store].size, store, NULL, 2 * some,
                        images);
        for (int i = 0; i < some; i++)
            write_group(aggregate, store, count[group + i], &images[2 * i], to, group + i);
    }
}

enum status group_quantile_write(struct accelerator *accelerator, const struct operator_job *job, struct column *ids,
                                 size_t k, const struct column *counts)
{
    const struct aggregate *aggregate = &job->task->aggregates[k];
    struct column *values = NULL, *to = job->results[job->task->column_op->key_count + k];
    enum status status = sort_values(accelerator, job, ids, aggregate, &values);
    if (status != STATUS_OK)
        return status;
    uint32_t *rows = heap_array((size_t)counts->rows * 2, sizeof *rows);
    void *picked = heap_array((size_t)counts->rows * 2, type_table[values->store].size);
    list_places(counts, aggregate->quantile, rows);
    status = pick(accelerator, job, values, rows, counts->rows * 2, picked);
    if (status == STATUS_OK)
        write_groups(aggregate, values->store, counts, picked, to);
    free(rows);
    free(picked);
    column_unref(values);
    return status;
}
