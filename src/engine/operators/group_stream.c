#include "engine/operators/group_stream.h"

#include "base/heap.h"
#include "engine/grouping/grouping.h"
#include "engine/operators/group_by.h"
#include "engine/operators/group_quantile.h"

#include <stdlib.h>

/* Columns of this many bytes stay in a core's cache, beside the states. */
enum { COLUMN_BYTES = 1 << 18, LEAST_ROWS = 1 << 11, MOST_ROWS = 1 << 15, STATE_BYTES = 1 << 19 };

/* The columns that a thread writes, and the keys and aggregates of these. */
struct member {
    struct column **columns; /* of each input */
    struct key *key;
    struct keys keys;
    struct group_aggregate *group_aggs;
    struct grouping grouping;
    int64_t rows; /* added */
};

struct group_stream {
    struct operator_job job;
    struct workers workers;
    struct grouped grouped;
    struct grouping grouping;
    struct dense_groups *dense;
    struct member *members;
    int64_t rows; /* a thread's columns hold */
};

/* Keys without reading rows; false if there may be too many groups, or the codes do not determine the keys. */
static bool plan_keys(struct grouped *grouped)
{
    const struct operator_job *job = grouped->job;
    const struct column_operator *column_op = job->task->column_op;
    struct packed_keys *word = &grouped->word;
    word->at = heap_array(column_op->key_count, sizeof *word->at);
    for (size_t i = 0; i < column_op->key_count; i++)
        word->at[i] = (struct key){.column = job->inputs[column_op->keys[i]]};
    keys_init_by_type(&word->keys, word->at, column_op->key_count);
    word->by = &word->keys;
    return word->keys.words == 1;
}

static bool has_few_groups(const struct grouped *grouped)
{
    size_t size = 0;
    for (size_t i = 0; i < grouped->group_agg_count; i++)
        size += group_aggregate_size(&grouped->group_aggs[i]);
    const int bits = grouped->word.keys.word_bits[0];
    return bits < 16 && size << bits <= STATE_BYTES;
}

static int64_t rows_at_once(const struct operator_job *job)
{
    size_t bytes = 1;
    for (size_t k = 0; k < job->task->input_count; k++)
        bytes += job->inputs[k] ? type_table[job->inputs[k]->store].size : 0;
    int64_t rows = MOST_ROWS;
    while (rows > LEAST_ROWS && rows * (int64_t)bytes > COLUMN_BYTES)
        rows /= 2;
    return rows;
}

/* The thread's column for one of the job's. */
static const struct column *own_column(const struct group_stream *stream, const struct member *member,
                                       const struct column *column)
{
    for (size_t k = 0; k < stream->job.task->input_count; k++) {
        if (column && stream->job.inputs[k] == column)
            return member->columns[k];
    }
    return NULL;
}

static bool member_init(struct group_stream *stream, struct member *member)
{
    const struct operator_job *job = &stream->job;
    const struct grouped *grouped = &stream->grouped;
    const size_t inputs = job->task->input_count, keys = grouped->word.keys.count;
    member->columns = heap_array(inputs, sizeof(struct column *));
    for (size_t k = 0; k < inputs; k++) {
        if (!job->inputs[k])
            continue;
        member->columns[k] = column_reserve_like(NULL, job->inputs[k], job->inputs[k]->type, stream->rows);
        if (!member->columns[k])
            return false;
    }
    member->key = heap_array(keys, sizeof *member->key);
    for (size_t i = 0; i < keys; i++) {
        member->key[i] = grouped->word.at[i];
        member->key[i].column = own_column(stream, member, grouped->word.at[i].column);
    }
    member->keys = grouped->word.keys;
    member->keys.at = member->key;
    member->group_aggs = heap_array(grouped->group_agg_count, sizeof *member->group_aggs);
    for (size_t i = 0; i < grouped->group_agg_count; i++) {
        member->group_aggs[i] = grouped->group_aggs[i];
        member->group_aggs[i].column = own_column(stream, member, grouped->group_aggs[i].column);
        member->group_aggs[i].other = own_column(stream, member, grouped->group_aggs[i].other);
        member->group_aggs[i].where = own_column(stream, member, grouped->group_aggs[i].where);
    }
    member->grouping = stream->grouping;
    member->grouping.keys = &member->keys;
    member->grouping.group_aggs = member->group_aggs;
    return true;
}

static bool stream_init(struct group_stream *stream)
{
    struct grouped *grouped = &stream->grouped;
    if (stream->job.task->column_op->key_count == 0 || has_quantiles(&stream->job) || !plan_keys(grouped) ||
        !grouped_plan_aggregates(grouped) || grouped->by_row || !has_few_groups(grouped))
        return false;
    stream->grouping = grouped_grouping(grouped, &stream->workers);
    stream->dense = dense_groups_new(&stream->grouping);
    stream->rows = rows_at_once(&stream->job);
    stream->members = heap_array((size_t)stream->workers.threads, sizeof *stream->members);
    for (int i = 0; i < stream->workers.threads; i++) {
        if (!member_init(stream, &stream->members[i]))
            return false;
    }
    return true;
}

struct group_stream *group_stream_open(const struct operator_job *job, const struct workers *workers)
{
    struct group_stream *stream = heap_array(1, sizeof *stream);
    stream->job = *job;
    stream->workers = *workers;
    stream->grouped.job = &stream->job;
    if (stream_init(stream))
        return stream;
    group_stream_close(stream);
    return NULL;
}

static void member_free(const struct group_stream *stream, struct member *member)
{
    for (size_t k = 0; member->columns && k < stream->job.task->input_count; k++)
        column_unref(member->columns[k]);
    free(member->columns);
    free(member->key);
    free(member->group_aggs);
}

void group_stream_close(struct group_stream *stream)
{
    if (!stream)
        return;
    for (int i = 0; stream->members && i < stream->workers.threads; i++)
        member_free(stream, &stream->members[i]);
    free(stream->members);
    dense_groups_free(stream->dense);
    grouped_free(&stream->grouped);
    free(stream);
}

const struct task *group_stream_task(const struct group_stream *stream)
{
    return stream->job.task;
}

struct column *const *group_stream_columns(const struct group_stream *stream, int member)
{
    return stream->members[member].columns;
}

int64_t group_stream_rows(const struct group_stream *stream)
{
    return stream->rows;
}

void group_stream_add(struct group_stream *stream, int member, int64_t rows)
{
    dense_groups_add(stream->dense, member, &stream->members[member].grouping, 0, rows);
    stream->members[member].rows += rows;
}

enum status group_stream_finish(struct group_stream *stream, int64_t *rows, bool *flagged)
{
    *rows = 0;
    for (int i = 0; i < stream->workers.threads; i++)
        *rows += stream->members[i].rows;
    const enum status status = dense_groups_finish(stream->dense, stream->job.result_rows);
    return grouped_finish(&stream->grouped, status, flagged);
}
