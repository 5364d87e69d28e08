/* Group: where possible keys are few (dense), each has a record in a table ordered by key. Otherwise the groups are
 * found first, numbered in order of appearance, and sorted at the end, by the host if they are few. So are groups of
 * float keys: a group has the bits of its first row's key, and a key code does not distinguish 0.0 from -0.0. */
#include "base/zeroed.h"
#include "cl/operators/first_rows.h"
#include "cl/operators/group_accumulate.h"
#include "cl/operators/group_output.h"
#include "cl/operators/group_put.h"
#include "cl/operators/group_quantile.h"
#include "cl/operators/operator.h"
#include "cl/operators/sort_columns.h"
#include "engine/sorting/sort_rows.h"
#include "engine/storage/residency.h"

struct group {
    struct accelerator *accelerator;
    const struct operator_job *job;
    struct workers workers;
    struct record_layout layout;
    struct group_keys group_keys;
    size_t *field_of;
    struct column **counts; /* of quantiles, as group_output has them */
};

static bool group_fits(const struct group *group)
{
    const struct operator_job *job = group->job;
    const struct task *task = job->task;
    struct column **columns =
        arena_array(job->diags->arena, task->column_op->key_count + 3 * task->aggregate_count + 1, sizeof *columns);
    size_t count = 0;
    for (size_t k = 0; k < task->column_op->key_count; k++)
        columns[count++] = job->inputs[task->column_op->keys[k]];
    for (size_t k = 0; k < task->aggregate_count; k++) {
        const struct aggregate *aggregate = &task->aggregates[k];
        const bool operands = aggregate_table[aggregate->kind].operands;
        const value read[] = {aggregate->value, operands ? aggregate->other : NO_VALUE,
                              operands ? aggregate->where : NO_VALUE};
        for (size_t i = 0; i < sizeof read / sizeof *read && task->outputs[task->column_op->key_count + k].needed;
             i++) {
            if (read[i] != NO_VALUE)
                columns[count++] = operator_input(job, read[i]);
        }
    }
    return columns_fit(group->accelerator, columns, count, job->rows);
}

static enum status plan_group(struct group *group)
{
    const struct operator_job *job = group->job;
    const struct column_operator *column_op = job->task->column_op;
    struct arena *arena = job->diags->arena;
    struct column **keys = arena_array(arena, column_op->key_count, sizeof *keys);
    for (size_t k = 0; k < column_op->key_count; k++)
        keys[k] = job->inputs[column_op->keys[k]];
    group->field_of = arena_array(arena, job->task->aggregate_count + 1, sizeof *group->field_of);
    enum status status = group_record_plan(&group->layout, group->accelerator, job, group->field_of);
    if (status == STATUS_OK)
        status = group_keys_find(&group->group_keys, group->accelerator, job, keys, column_op->key_count);
    return status;
}

enum { ACCUMULATE_AND_PUT = ACCUMULATE_KERNELS + PUT_KERNELS };

/* `put` NULL: the host writes the groups. Sets the names of the kernels. */
static const char *accumulate_text(const struct group *group, const struct accumulate_plan *plan,
                                   const struct record_index_text *index, const struct group_put *put,
                                   const char *names[ACCUMULATE_AND_PUT])
{
    struct arena *arena = group->job->diags->arena;
    struct strbuf text = {0};
    group_accumulate_names(names);
    group_put_names(names + ACCUMULATE_KERNELS);
    key_encoding_functions(&text, false);
    group_accumulate_add_text(&text, &group->layout, plan, group->accelerator->config, index, arena);
    if (put)
        group_put_add_text(put, &text, group->accelerator->config);
    return text_in_arena(arena, &text);
}

static struct operator_run begin_accumulate(const struct group *group, const struct accumulate_plan *plan,
                                            const struct record_index_text *index, const struct group_put *put)
{
    const char *names[ACCUMULATE_AND_PUT];
    const char *text = accumulate_text(group, plan, index, put, names);
    return operator_begin(group->accelerator, group->job, text, names, put ? ACCUMULATE_AND_PUT : ACCUMULATE_KERNELS);
}

/* Begins to build the program of a plan that is to follow, if the task does not wait for programs. */
static void expect(const struct group *group, const struct accumulate_plan *plan, const struct record_index_text *index,
                   const struct group_put *put)
{
    const char *names[ACCUMULATE_AND_PUT];
    if (!group->job->no_wait)
        return;
    const char *text = accumulate_text(group, plan, index, put, names);
    (void)program_begin_text(group->accelerator, text, names, put ? ACCUMULATE_AND_PUT : ACCUMULATE_KERNELS);
}

/* Ends the run; if memory for the result is short, the host runs the task. */
static enum status end_accumulate(struct operator_run *run, const struct column *records)
{
    const enum status status = operator_end(run);
    return status == STATUS_OK && !records ? STATUS_UNABLE : status;
}

/* Accumulates and writes the groups on the device. */
static enum status put_dense(const struct group *group, const struct accumulate_plan *plan, const struct group_put *put,
                             bool *flagged)
{
    const struct record_index_text index = group_keys_index_text(&group->group_keys, group->job->diags->arena);
    struct operator_run run = begin_accumulate(group, plan, &index, put);
    struct arguments arguments = {.arena = group->job->diags->arena};
    const struct view table = {operator_buffer(&run, plan->records * group->layout.stride * sizeof(cl_uint)), 0};
    group_keys_arguments(&group->group_keys, &run, &arguments);
    if (!operator_stopped(&run))
        group_accumulate_into(&run, &group->layout, plan, &arguments, &table, group_keys_bytes(&group->group_keys));
    if (!operator_stopped(&run))
        group_put_run(put, &run, ACCUMULATE_KERNELS, &table, flagged);
    return operator_end(&run);
}

static enum status group_dense(struct group *group, const struct accumulate_plan *plan, bool *flagged)
{
    const struct operator_job *job = group->job;
    const struct group_put put = {job, &group->layout, group->field_of, &group->group_keys, plan->records, NULL};
    if (group_put_suits(&put, group->accelerator))
        return put_dense(group, plan, &put, flagged);
    const struct record_index_text index = group_keys_index_text(&group->group_keys, job->diags->arena);
    struct operator_run run = begin_accumulate(group, plan, &index, NULL);
    struct arguments arguments = {.arena = job->diags->arena};
    group_keys_arguments(&group->group_keys, &run, &arguments);
    struct column *records =
        group_accumulate_run(&run, &group->layout, plan, &arguments, group_keys_bytes(&group->group_keys));
    enum status status = end_accumulate(&run, records);
    const struct group_output groups = {
        .job = job,
        .workers = &group->workers,
        .layout = &group->layout,
        .field_of = group->field_of,
        .group_keys = &group->group_keys,
        .records = records,
        .count = (int64_t)plan->records,
        .counts = group->counts,
    };
    if (status == STATUS_OK)
        status = groups_write(&groups, flagged);
    column_unref(records);
    return status;
}

/* The record of a row is that of the group found. */
static const struct record_index_text found_index = {
    .parameters = "    __global const uint *numbers, __global const uint *slots,\n",
    .prologue = "",
    .index = "        const uint index = numbers[slots[i]];\n",
};

/* Accumulates the rows of the groups found. */
static enum status accumulate_found(struct group *group, const struct first_rows *found, struct column **records)
{
    struct arguments arguments = {.arena = group->job->diags->arena};
    struct accumulate_plan plan;
    if (!group_accumulate_plan(&plan, &group->layout, group->accelerator, group->job->rows, (uint64_t)found->count))
        return STATUS_UNABLE;
    struct operator_run run = begin_accumulate(group, &plan, &found_index, NULL);
    argument_buffer(&arguments, found->table);
    argument_buffer(&arguments, found->slots);
    *records = group_accumulate_run(&run, &group->layout, &plan, &arguments, 2 * (int64_t)sizeof(cl_uint));
    return end_accumulate(&run, *records);
}

/* The keys of the rows listed. */
static enum status gather_keys(const struct group *group, const struct column *rows, struct column **keys)
{
    const struct group_keys *group_keys = &group->group_keys;
    struct column **from = arena_array(group->job->diags->arena, group_keys->count, sizeof *from);
    for (size_t k = 0; k < group_keys->count; k++) {
        from[k] = group_keys->parts[k].encoded.column;
        keys[k] = column_reserve(from[k]->type, from[k]->store, rows->rows);
        if (!keys[k])
            return STATUS_UNABLE;
    }
    return gather_listed(&group->workers, rows, from, keys, group_keys->count);
}

/* Writes the groups found on the host, ordered by key. */
static enum status write_found(struct group *group, const struct first_rows *found, const struct column *records,
                               bool *flagged)
{
    const struct group_keys *group_keys = &group->group_keys;
    struct arena *arena = group->job->diags->arena;
    const size_t size = (size_t)found->count * sizeof(uint64_t);
    struct column **columns = arena_array(arena, group_keys->count, sizeof *columns);
    struct key *at = arena_array(arena, group_keys->count, sizeof *at);
    uint64_t *order = zeroed_alloc(size);
    struct keys keys = {0};
    enum status status = columns_fetch(group->job->inputs, group->job->task->input_count, group->job->cancel,
                                       group->job->task->span, group->job->diags);
    if (status == STATUS_OK)
        status = order ? gather_keys(group, found->rows, columns) : STATUS_UNABLE;

    for (size_t k = 0; k < group_keys->count; k++)
        at[k].column = columns[k];
    if (status == STATUS_OK && !keys_init(&keys, at, group_keys->count, found->count, &group->workers))
        status = STATUS_CANCELLED;
    if (status == STATUS_OK) {
        status = order_rows(&keys, found->count, &group->workers, order);
        status = status == STATUS_FAILED ? STATUS_UNABLE : status;
    }
    const struct group_output groups = {
        .job = group->job,
        .workers = &group->workers,
        .layout = &group->layout,
        .field_of = group->field_of,
        .group_keys = group_keys,
        .records = records,
        .keys = columns,
        .order = order,
        .count = found->count,
        .counts = group->counts,
    };
    if (status == STATUS_OK)
        status = groups_write(&groups, flagged);
    keys_free(&keys);
    columns_unref(columns, group_keys->count);
    zeroed_free(order, size);
    return status;
}

/* Accumulates and writes the groups found on the device, in order of appearance. */
static enum status put_found(struct group *group, struct first_rows *found, bool *flagged)
{
    struct arguments arguments = {.arena = group->job->diags->arena};
    struct accumulate_plan plan;
    const struct group_put put = {group->job,         &group->layout,         group->field_of,
                                  &group->group_keys, (uint64_t)found->count, &found->listed};
    if (!group_accumulate_plan(&plan, &group->layout, group->accelerator, group->job->rows, (uint64_t)found->count))
        return STATUS_UNABLE;
    struct operator_run run = begin_accumulate(group, &plan, &found_index, &put);
    const struct view table = {operator_buffer(&run, plan.records * group->layout.stride * sizeof(cl_uint)), 0};
    argument_buffer(&arguments, found->table);
    argument_buffer(&arguments, found->slots);
    if (!operator_stopped(&run))
        group_accumulate_into(&run, &group->layout, &plan, &arguments, &table, 2 * (int64_t)sizeof(cl_uint));
    if (!operator_stopped(&run))
        group_put_run(&put, &run, ACCUMULATE_KERNELS, &table, flagged);
    return operator_end(&run);
}

/* Sorts the groups that were put in order of appearance by their keys. */
static enum status order_groups(const struct group *group)
{
    const struct operator_job *job = group->job;
    const size_t count = job->task->output_count;
    struct column **sorted = arena_array(job->diags->arena, count + 1, sizeof(struct column *));
    bool *wanted = arena_array(job->diags->arena, count + 1, sizeof *wanted);
    for (size_t k = 0; k < count; k++)
        wanted[k] = job->results[k];
    const struct sorted_columns what = {.columns = job->results,
                                        .wanted = wanted,
                                        .count = count,
                                        .key_count = group->group_keys.count,
                                        .rows = *job->result_rows};
    const enum status status = sort_columns(group->accelerator, job, &what, sorted);
    for (size_t k = 0; k < count; k++) {
        column_unref(job->results[k]);
        job->results[k] = sorted[k];
    }
    return status;
}

/* Expects that there are many groups. */
static void expect_many(const struct group *group)
{
    const struct view rows = {0};
    const struct group_put put = {
        group->job, &group->layout, group->field_of, &group->group_keys, (uint64_t)group->job->rows, &rows};
    struct accumulate_plan plan;
    if (group_accumulate_plan(&plan, &group->layout, group->accelerator, group->job->rows, put.records))
        expect(group, &plan, &found_index, &put);
}

/* Whether kernels write the groups found, and sort them if need be. */
static bool puts_found(const struct group *group)
{
    const struct task *task = group->job->task;
    const struct group_put put = {
        group->job, &group->layout, group->field_of, &group->group_keys, (uint64_t)group->job->rows, NULL};
    bool keyed = true;
    for (size_t k = 0; k < task->column_op->key_count; k++)
        keyed = keyed && task->outputs[k].needed;
    return group_put_suits(&put, group->accelerator) && (keyed || task->column_op->unordered);
}

/* Whether nothing is read of the groups but how many there are. */
static bool only_counts(const struct group *group)
{
    const struct task *task = group->job->task;
    bool needed = false;
    for (size_t k = 0; k < task->output_count; k++)
        needed = needed || task->outputs[k].needed;
    return !needed;
}

/* Counts the groups. */
static enum status count_groups(const struct group *group)
{
    struct first_rows found;
    first_rows_find(&found, group->accelerator, group->job, &group->group_keys, group->job->rows);
    if (!operator_stopped(&found.run))
        *group->job->result_rows = found.count;
    return first_rows_end(&found);
}

static enum status group_by_first_rows(struct group *group, bool *flagged)
{
    /* 100 M random i32 on an H200: kernels 33 ms, but sorting and writing 99 M groups takes a host of 16 processors 600
     * ms, and the host alone computes the whole result in 430 ms. */
    enum { MANY = 1 << 19, FEW = 1 << 14 };
    struct first_rows found;
    struct column *records = NULL;
    enum status status = STATUS_OK;
    const int64_t rows = group->job->rows, most = rows / 2 > MANY ? rows / 2 : MANY;
    const bool puts = puts_found(group);
    if (puts)
        expect_many(group);
    first_rows_find(&found, group->accelerator, group->job, &group->group_keys, puts ? rows : most);
    first_rows_number(&found);
    const bool put = puts && found.count >= FEW;
    if (!put)
        first_rows_fetch(&found);
    if (!operator_stopped(&found.run))
        status = put ? put_found(group, &found, flagged) : accumulate_found(group, &found, &records);
    if (!put && status == STATUS_OK && !operator_stopped(&found.run))
        status = write_found(group, &found, records, flagged);
    column_unref(records);
    const enum status end = first_rows_end(&found);
    status = end == STATUS_OK ? status : end;
    return put && status == STATUS_OK && !*flagged && !group->job->task->column_op->unordered ? order_groups(group)
                                                                                              : status;
}

/* A table of 960 MB takes 1 ms to clear, to look through and to write, but the host takes 8 ms to sort 300 000 groups.
 */
static bool is_dense(const struct group *group)
{
    enum { FEW = 1 << 16, PLACES_PER_ROW = 256, MOST_BYTES = 1 << 30 };
    const struct group_keys *keys = &group->group_keys;
    const uint64_t places = keys->dense_size, rows = (uint64_t)group->job->rows;
    const struct group_put put = {group->job, &group->layout, group->field_of, keys, places, NULL};
    for (size_t k = 0; k < keys->count; k++) {
        if (keys->parts[k].encoded.encoding->is_float)
            return false;
    }
    return places > 0 && (places <= FEW || places <= 2 * rows ||
                          (places <= PLACES_PER_ROW * rows && group_put_suits(&put, group->accelerator) &&
                           places * group->layout.stride * sizeof(cl_uint) <= MOST_BYTES));
}

static bool is_quantile(const struct group *group, size_t k)
{
    const struct task *task = group->job->task;
    return task->aggregates[k].kind == AGG_QUANTILE && task->outputs[task->column_op->key_count + k].needed;
}

static bool has_quantiles(const struct group *group)
{
    bool any = false;
    for (size_t k = 0; k < group->job->task->aggregate_count; k++)
        any = any || is_quantile(group, k);
    return any;
}

/* Fills in the quantiles of groups that have been written. */
static enum status write_quantiles(const struct group *group, struct column *ids)
{
    const struct operator_job *job = group->job;
    enum status status = ids->hi + 1 == *job->result_rows ? STATUS_OK : STATUS_UNABLE;
    for (size_t k = 0; k < job->task->aggregate_count && status == STATUS_OK; k++) {
        if (is_quantile(group, k))
            status = group_quantile_write(group->accelerator, job, ids, k, group->counts[k]);
    }
    for (size_t k = 0; k < job->task->output_count && status != STATUS_OK; k++) {
        column_unref(job->results[k]);
        job->results[k] = NULL;
    }
    return status;
}

/* Whether the groups are dense, which sets the plan. */
static bool plans_dense(const struct group *group, struct accumulate_plan *plan)
{
    return is_dense(group) && group_accumulate_plan(plan, &group->layout, group->accelerator, group->job->rows,
                                                    group->group_keys.dense_size);
}

static enum status find_groups(struct group *group, bool *flagged)
{
    struct accumulate_plan plan;
    const enum status status = plan_group(group);
    if (status != STATUS_OK)
        return status;
    if (plans_dense(group, &plan))
        return group_dense(group, &plan, flagged);
    if (!group->accelerator->config->shared_tables)
        return STATUS_UNABLE;
    return only_counts(group) ? count_groups(group) : group_by_first_rows(group, flagged);
}

/* Numbers the groups for quantiles. While that is built, what follows is, too. */
static enum status find_ids(struct group *group, struct column **ids)
{
    struct accumulate_plan plan;
    const enum status status = group_quantile_ids(group->accelerator, group->job, ids);
    if (status == STATUS_UNABLE && group->job->no_wait && plan_group(group) == STATUS_OK && plans_dense(group, &plan)) {
        const struct record_index_text index = group_keys_index_text(&group->group_keys, group->job->diags->arena);
        expect(group, &plan, &index, NULL);
    }
    return status;
}

enum status cl_group(struct accelerator *accelerator, const struct operator_job *job, bool *flagged)
{
    struct group group = {
        .accelerator = accelerator,
        .job = job,
        .workers = {.threads = parallel_threads(), .cancel = job->cancel},
        .counts = arena_array(job->diags->arena, job->task->aggregate_count + 1, sizeof *group.counts),
    };
    struct column *ids = NULL;
    enum status status = STATUS_OK;
    if (job->rows == 0 || job->task->column_op->key_count == 0 || !group_fits(&group))
        return STATUS_UNABLE;
    if (has_quantiles(&group))
        status = find_ids(&group, &ids);
    if (status == STATUS_OK)
        status = find_groups(&group, flagged);
    if (status == STATUS_OK && ids && !*flagged)
        status = write_quantiles(&group, ids);
    column_unref(ids);
    columns_unref(group.counts, job->task->aggregate_count);
    return status;
}
