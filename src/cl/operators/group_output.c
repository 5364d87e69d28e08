#include "cl/operators/group_output.h"

#include "base/heap.h"
#include "engine/grouping/group_aggregate.h"
#include "engine/sorting/sort_keys.h"

#include <stdlib.h>
#include <string.h>

enum { PART_RECORDS = 1 << 14 };

struct writing {
    const struct group_output *groups;
    struct parts parts;
    int64_t *begins; /* first output row of each part */
    _Atomic bool flagged;
};

static const uint32_t *record_at(const struct group_output *groups, uint64_t record)
{
    return (const uint32_t *)groups->records->data + record * groups->layout->stride;
}

/* Writes sums and means of floats, and moments; false: the aggregate is another one. */
static bool write_numbers(const struct group_output *groups, size_t k, const uint64_t *records, int count, int64_t at)
{
    const struct record_layout *layout = groups->layout;
    const struct task *task = groups->job->task;
    const struct aggregate *aggregate = &task->aggregates[k];
    const bool moments = aggregate->kind == AGG_VAR || aggregate->kind == AGG_CORR;
    const struct record_field *field =
        moments || aggregate->kind == AGG_COUNT ? NULL : &layout->fields[groups->field_of[k]];
    if (!moments && (!field || field->words == 0))
        return false;
    double *to = column_at(groups->job->results[task->column_op->key_count + k], at);
    for (int i = 0; i < count; i++) {
        const uint32_t *record = record_at(groups, records[i]);
        to[i] = moments ? group_record_moment(layout, &layout->moments[k], record, aggregate->scale)
                        : group_record_float_sum(layout, field, record);
        if (aggregate->kind == AGG_MEAN)
            to[i] = to[i] / (double)group_record_count(layout, record) + 0.0;
    }
    return true;
}

/* Values of a field, in the layout of the host's group states. */
union aggregated {
    int128 sums[KEY_BLOCK];
    int64_t integers[KEY_BLOCK];
    double numbers[KEY_BLOCK];
};

static struct group_aggregate read_field(const struct group_output *groups, const struct record_field *field,
                                         const uint64_t *records, int count, union aggregated *aggregated)
{
    const struct record_layout *layout = groups->layout;
    const struct column *column = layout->values[field->value].encoded.column;
    const enum state_form form = field->kind == AGG_SUM                         ? STATE_WIDE_SUM
                                 : type_table[column->store].kind == KIND_FLOAT ? STATE_NUMBER
                                                                                : STATE_INTEGER;
    for (int i = 0; i < count; i++) {
        const uint32_t *record = record_at(groups, records[i]);
        if (form == STATE_WIDE_SUM)
            aggregated->sums[i] = group_record_sum(layout, field, record);
        else if (form == STATE_NUMBER)
            aggregated->numbers[i] = group_record_float(layout, field, record);
        else
            aggregated->integers[i] = group_record_integer(layout, field, record);
    }
    return (struct group_aggregate){.kind = field->kind, .form = form, .column = column};
}

static void write_aggregate(struct writing *writing, size_t k, const uint64_t *records, int count, int64_t at)
{
    const struct group_output *groups = writing->groups;
    const struct task *task = groups->job->task;
    int64_t counts[KEY_BLOCK];
    uint32_t places[KEY_BLOCK];
    union aggregated aggregated;
    struct group_aggregate group_agg = {.kind = AGG_COUNT};
    const void *values = counts;
    if (task->aggregates[k].kind == AGG_QUANTILE) {
        for (int i = 0; i < count; i++)
            counts[i] =
                group_record_present(groups->layout, &groups->layout->moments[k], record_at(groups, records[i]));
        memcpy(column_at(groups->counts[k], at), counts, (size_t)count * sizeof *counts);
        return;
    }
    if (write_numbers(groups, k, records, count, at))
        return;
    for (int i = 0; i < count; i++) {
        counts[i] = group_record_count(groups->layout, record_at(groups, records[i]));
        places[i] = (uint32_t)i;
    }
    if (task->aggregates[k].kind != AGG_COUNT) {
        group_agg = read_field(groups, &groups->layout->fields[groups->field_of[k]], records, count, &aggregated);
        values = &aggregated;
    }
    if (!group_aggregate_write(&group_agg, &task->aggregates[k], values, counts, places, count,
                               groups->job->results[task->column_op->key_count + k], at))
        writing->flagged = true;
}

static void write_key(const struct group_output *groups, size_t k, const uint64_t *records, int count, int64_t at)
{
    const struct key_part *part = &groups->group_keys->parts[k];
    struct column *to = groups->job->results[k];
    if (groups->keys) {
        column_gather(groups->keys[k], records, count, column_at(to, at));
        return;
    }
    uint64_t codes[KEY_BLOCK];
    const struct key key = {
        .column = part->encoded.column,
        .faithful = true,
        .least = encoding_to_host_key(part->encoded.encoding, part->bounds.least),
        .most = encoding_to_host_key(part->encoded.encoding, part->bounds.most),
        .bits = 64,
    };
    for (int i = 0; i < count; i++)
        codes[i] = group_keys_code(groups->group_keys, k, records[i]);
    key_write(&key, codes, count, to, at);
}

static void write_block(struct writing *writing, const uint64_t *records, int count, int64_t at)
{
    const struct operator_job *job = writing->groups->job;
    const size_t keys = job->task->column_op->key_count;
    for (size_t k = 0; k < job->task->output_count && count > 0; k++) {
        if (job->results[k] && k < keys)
            write_key(writing->groups, k, records, count, at);
        else if (job->results[k])
            write_aggregate(writing, k - keys, records, count, at);
    }
}

static void count_part(void *context, struct part part)
{
    const struct writing *writing = context;
    const struct group_output *groups = writing->groups;
    int64_t begin = part.begin, end = part.end, count = end - begin;
    for (int64_t record = begin; record < end && !groups->order; record++)
        count -= group_record_count(groups->layout, record_at(groups, (uint64_t)record)) == 0;
    writing->begins[part.number] = count;
}

static void write_part(void *context, struct part part)
{
    struct writing *writing = context;
    const struct group_output *groups = writing->groups;
    int64_t end = part.end, at = writing->begins[part.number];
    uint64_t records[KEY_BLOCK];
    int count = 0;
    for (int64_t i = part.begin; i < end; i++) {
        const uint64_t record = groups->order ? groups->order[i] : (uint64_t)i;
        records[count] = record;
        count += groups->order || group_record_count(groups->layout, record_at(groups, record)) > 0;
        if (count == KEY_BLOCK) {
            write_block(writing, records, count, at);
            at += count;
            count = 0;
        }
    }
    write_block(writing, records, count, at);
}

static enum status write_all(struct writing *writing)
{
    const struct group_output *groups = writing->groups;
    const struct operator_job *job = groups->job;
    if (!workers_run_parts(groups->workers, &writing->parts, count_part, writing))
        return STATUS_CANCELLED;
    *job->result_rows = begins_of_counts(writing->begins, writing->parts.count);
    for (size_t k = 0; k < job->task->output_count; k++) {
        if (!job->task->outputs[k].needed)
            continue;
        job->results[k] = group_result_reserve(job, k, *job->result_rows);
        const size_t aggregate = k - job->task->column_op->key_count;
        if (k >= job->task->column_op->key_count && job->task->aggregates[aggregate].kind == AGG_QUANTILE)
            groups->counts[aggregate] = column_reserve(TYPE_I64, TYPE_I64, *job->result_rows);
        if (!job->results[k])
            return STATUS_UNABLE;
    }
    return workers_run_parts(groups->workers, &writing->parts, write_part, writing) ? STATUS_OK : STATUS_CANCELLED;
}

enum status groups_write(const struct group_output *groups, bool *flagged)
{
    const struct operator_job *job = groups->job;
    struct writing writing = {
        .groups = groups,
        .parts = partition_rows(groups->workers, groups->count, PART_RECORDS),
    };
    writing.begins = heap_array((size_t)writing.parts.count, sizeof *writing.begins);
    const enum status status = write_all(&writing);
    free(writing.begins);
    if (status == STATUS_OK && writing.flagged)
        *flagged = true;
    columns_finish(groups->counts, job->task->aggregate_count, *job->result_rows, true);
    columns_finish(job->results, job->task->output_count, *job->result_rows, status == STATUS_OK && !writing.flagged);
    return status;
}
