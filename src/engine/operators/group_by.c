/* Group: keys become codes, codes are grouped, and keys and aggregates of the groups are written to columns. */
#include "engine/operators/group_by.h"

#include "engine/operators/axis_reduction.h"
#include "engine/operators/group_first.h"
#include "engine/operators/group_quantile.h"
#include "engine/sorting/row_parts.h"
#include "engine/vector/elements.h"

#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

enum { LARGE_ROW = 32 /* bytes of a row whose keys are ranked, or whose values are sorted by group */ };

static bool is_needed(const struct operator_job *job, size_t output)
{
    return job->task->outputs[output].needed;
}

static bool prepare(void *context, int64_t most)
{
    const struct grouped *grouped = context;
    const struct operator_job *job = grouped->job;
    for (size_t k = 0; k < job->task->output_count; k++) {
        if (!is_needed(job, k) && !(grouped->sorts && k < job->task->column_op->key_count))
            continue;
        job->results[k] = group_result_reserve(job, k, most);
        if (!job->results[k])
            return false;
    }
    return true;
}

/* A group has exactly its first row's keys: -0.0 or 0.0, and the NaN. */
static void write_key(const struct grouped *grouped, const struct found *found, const struct key *key,
                      struct column *to)
{
    if (!grouped->by_row) {
        key_write(key, found->codes + key->word * KEY_BLOCK, found->count, to, found->at);
        return;
    }
    const int64_t *first = found->states[FIRST];
    uint64_t rows[KEY_BLOCK];
    for (int i = 0; i < found->count; i++)
        rows[i] = (uint64_t)first[found->places[i]];
    column_gather(key->column, rows, found->count, column_at(to, found->at));
}

static void emit(void *context, const struct found *found)
{
    struct grouped *grouped = context;
    const struct operator_job *job = grouped->job;
    const size_t keys = job->task->column_op->key_count;
    for (size_t k = 0; k < job->task->output_count; k++) {
        if (!job->results[k])
            continue;
        if (k < keys) {
            write_key(grouped, found, &grouped->word.at[k], job->results[k]);
            continue;
        }
        if (job->task->aggregates[k - keys].kind == AGG_QUANTILE)
            continue;
        const size_t group_agg = grouped->group_aggregate_of[k - keys];
        if (!group_aggregate_write(&grouped->group_aggs[group_agg], &job->task->aggregates[k - keys],
                                   found->states[group_agg], found->states[COUNT], found->places, found->count,
                                   job->results[k], found->at))
            grouped->flagged = true;
    }
}

static void move(void *context, int64_t from, int64_t to, int64_t count)
{
    const struct grouped *grouped = context;
    for (size_t k = 0; k < grouped->job->task->output_count; k++) {
        struct column *column = grouped->job->results[k];
        if (column)
            memmove(column_at(column, to), column_at(column, from), (size_t)count * type_table[column->store].size);
    }
}

static const struct column *input_of(const struct operator_job *job, value v)
{
    return v == NO_VALUE ? NULL : operator_input(job, v);
}

/* The states of an aggregate; false if it is not supported. */
static bool find_states(const struct operator_job *job, const struct aggregate *aggregate,
                        struct group_aggregate *group_agg)
{
    const struct column *column = input_of(job, aggregate->value);
    if (aggregate->kind != AGG_VAR && aggregate->kind != AGG_CORR)
        return group_aggregate_for(aggregate->kind, column, job->rows, group_agg);
    const struct column *other = aggregate->kind == AGG_CORR ? input_of(job, aggregate->other) : NULL;
    group_moments_for(column, other, input_of(job, aggregate->where), job->rows, group_agg);
    return true;
}

static bool same_states(const struct group_aggregate *a, const struct group_aggregate *b)
{
    return a->kind == b->kind && a->form == b->form && a->column == b->column && a->other == b->other &&
           a->where == b->where;
}

bool grouped_plan_aggregates(struct grouped *grouped)
{
    const struct operator_job *job = grouped->job;
    const struct task *task = job->task;
    grouped->group_aggs = heap_array(task->aggregate_count + FIXED_AGGREGATES, sizeof *grouped->group_aggs);
    grouped->group_aggregate_of = heap_array(task->aggregate_count, sizeof *grouped->group_aggregate_of);
    grouped->group_aggs[COUNT] = (struct group_aggregate){.kind = AGG_COUNT};
    grouped->group_agg_count = 1;
    grouped->by_row = grouped->word.ranked;
    for (size_t i = 0; i < task->column_op->key_count; i++)
        grouped->by_row = grouped->by_row || !grouped->word.at[i].faithful;
    if (grouped->by_row)
        grouped->group_aggs[grouped->group_agg_count++] = (struct group_aggregate){.kind = AGG_FIRST};
    for (size_t i = 0; i < task->aggregate_count; i++) {
        const struct aggregate *aggregate = &task->aggregates[i];
        if (!is_needed(job, task->column_op->key_count + i) || aggregate->kind == AGG_QUANTILE)
            continue;
        struct group_aggregate group_agg;
        if (!find_states(job, aggregate, &group_agg))
            return false;
        size_t at = 0;
        while (at < grouped->group_agg_count && !same_states(&grouped->group_aggs[at], &group_agg))
            at++;
        grouped->group_aggregate_of[i] = at;
        if (at == grouped->group_agg_count)
            grouped->group_aggs[grouped->group_agg_count++] = group_agg;
    }
    return true;
}

/* Without keys all rows have the same one. */
static enum status find_keys(struct grouped *grouped, const struct workers *workers)
{
    const struct operator_job *job = grouped->job;
    const struct column_operator *column_op = job->task->column_op;
    if (column_op->key_count == 0) {
        grouped->constant = column_reserve(TYPE_U8, TYPE_U8, job->rows);
        if (!grouped->constant)
            return STATUS_FAILED;
        memset(column_at(grouped->constant, 0), 0, (size_t)job->rows);
        column_finish(grouped->constant, job->rows);
        const struct column *constant = grouped->constant;
        return packed_keys_init(&grouped->word, &constant, 1, job->rows, workers, 1);
    }
    const struct column **columns = heap_array(column_op->key_count, sizeof *columns);
    for (size_t i = 0; i < column_op->key_count; i++)
        columns[i] = job->inputs[column_op->keys[i]];
    const enum status status = packed_keys_init(&grouped->word, columns, column_op->key_count, job->rows, workers,
                                                has_quantiles(job) ? 1 : CARRIED_WORDS);
    grouped->sorts =
        status == STATUS_OK && !grouped->word.too_large && grouped->word.by->words > 1 && !column_op->unordered;
    free(columns);
    return status;
}

struct grouping grouped_grouping(struct grouped *grouped, const struct workers *workers)
{
    return (struct grouping){
        .workers = workers,
        .rows = grouped->job->rows,
        .keys = grouped->word.by,
        .group_aggs = grouped->group_aggs,
        .group_agg_count = grouped->group_agg_count,
        .prepare = prepare,
        .emit = emit,
        .move = move,
        .context = grouped,
    };
}

/* Puts the groups in the order of their keys. */
static enum status sort_groups(struct grouped *grouped, const struct workers *workers)
{
    const struct operator_job *job = grouped->job;
    const size_t outputs = job->task->output_count;
    const int64_t groups = *job->result_rows;
    struct keys keys = grouped->word.keys;
    struct carried *carried = heap_array(outputs, sizeof *carried);
    size_t count = 0;
    bool reserved = true;
    keys.at = heap_array(keys.count, sizeof *keys.at);
    for (size_t k = 0; k < outputs; k++) {
        if (job->results[k])
            column_finish(job->results[k], groups);
        if (k < keys.count) {
            keys.at[k] = grouped->word.at[k];
            keys.at[k].column = job->results[k];
        }
        if (!is_needed(job, k))
            continue;
        carried[count] = (struct carried){.from = job->results[k], .to = group_result_reserve(job, k, groups)};
        reserved = reserved && carried[count++].to;
    }
    const enum status status = reserved ? sort_columns_by(&keys, groups, workers, carried, count) : STATUS_FAILED;
    for (size_t k = 0, at = 0; k < outputs; k++) {
        column_unref(job->results[k]);
        job->results[k] = is_needed(job, k) ? carried[at++].to : NULL;
    }
    free(keys.at);
    free(carried);
    return status;
}

/* The bytes of a group's results, twice where they are sorted. */
static int64_t result_bytes(const struct grouped *grouped)
{
    const struct task *task = grouped->job->task;
    int64_t bytes = 0;
    for (size_t k = 0; k < task->output_count; k++)
        bytes += task->outputs[k].needed ? (int64_t)type_table[task->outputs[k].type].size : 0;
    return grouped->sorts ? 2 * bytes : bytes;
}

static enum status group_columns(struct grouped *grouped, const struct workers *workers)
{
    const struct operator_job *job = grouped->job;
    enum status status = find_keys(grouped, workers);
    if (status != STATUS_OK)
        return status;
    if (grouped->word.too_large ||
        (has_quantiles(job) && row_parts_pay(&grouped->word.keys, job->rows, LARGE_ROW, workers->pool)))
        return group_in_parts(grouped, LARGE_ROW, workers, group_columns);
    if (!grouped_plan_aggregates(grouped)) {
        grouped->flagged = true;
        return STATUS_OK;
    }
    bool too_large = false;
    struct grouping grouping = grouped_grouping(grouped, workers);
    grouping.result_bytes = result_bytes(grouped);
    grouping.too_large = &too_large;
    status = group_rows(&grouping, job->result_rows);
    if (status == STATUS_OK && too_large)
        return group_in_parts(grouped, grouping_row_bytes(&grouping), workers, group_columns);
    if (status == STATUS_OK && grouped->sorts && !grouped->flagged && *job->result_rows > 1)
        status = sort_groups(grouped, workers);
    if (status == STATUS_OK && has_quantiles(job))
        status = group_quantiles(job, grouped->word.by, *job->result_rows, workers);
    return status;
}

/* One row without keys, of no rows: aggregates of nothing are 0, products 1. */
static enum status write_nothing(const struct operator_job *job)
{
    for (size_t k = 0; k < job->task->output_count; k++) {
        if (!job->results[k])
            continue;
        const bool number = job->results[k]->store == TYPE_F64;
        const int64_t nothing = job->task->aggregates[k].kind == AGG_PRODUCT;
        if (number)
            *(double *)column_at(job->results[k], 0) = (double)nothing;
        else
            operator_write_ints(job->results[k], 0, &nothing, 1);
    }
    *job->result_rows = 1;
    return STATUS_OK;
}

void grouped_free(struct grouped *grouped)
{
    column_unref(grouped->constant);
    packed_keys_free(&grouped->word);
    free(grouped->group_aggs);
    free(grouped->group_aggregate_of);
}

void grouped_finish_results(struct grouped *grouped, enum status status, bool *flagged)
{
    const struct operator_job *job = grouped->job;
    if (grouped->flagged)
        *flagged = true;
    columns_finish(job->results, job->task->output_count, *job->result_rows, status == STATUS_OK && !grouped->flagged);
}

enum status grouped_finish(struct grouped *grouped, enum status status, bool *flagged)
{
    grouped_finish_results(grouped, status, flagged);
    return operator_report(grouped->job, status);
}

/* Groups the rows of all groups that are read. */
static enum status group_read(const struct operator_job *job, const struct workers *workers, bool *flagged)
{
    struct first_groups first;
    enum status status = first_groups_find(job, workers, &first);
    struct grouped grouped = {.job = &first.job};
    if (status == STATUS_OK)
        status = group_columns(&grouped, workers);
    status = grouped_finish(&grouped, status, flagged);
    grouped_free(&grouped);
    first_groups_free(&first);
    return status;
}

enum status operator_group(const struct operator_job *job, const struct workers *workers, bool *flagged)
{
    struct grouped grouped = {.job = job};
    *job->result_rows = 0;
    enum status status = STATUS_FAILED;
    if (job->rows > 0 && !axis_supports(job))
        return group_read(job, workers, flagged);
    if (job->rows > 0)
        status = axis_run(job, workers, &grouped.flagged);
    else if (prepare(&grouped, job->task->column_op->key_count == 0))
        status = job->task->column_op->key_count == 0 ? write_nothing(job) : STATUS_OK;
    status = grouped_finish(&grouped, status, flagged);
    grouped_free(&grouped);
    return status;
}
