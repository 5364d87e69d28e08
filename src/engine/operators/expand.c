/* Expand: as many rows for each row as its count says, with the row's number and a place that counts up; or with the
 * places among these whose elements exceed a limit, which maxima of blocks find: their number, and not that of all
 * places, is what it takes. */
#include "base/heap.h"
#include "base/integer.h"
#include "engine/backend/memory_limit.h"
#include "engine/operators/maxima.h"
#include "engine/operators/operator.h"
#include "engine/vector/elements.h"

#include <stdlib.h>

/* A row may have very many result rows: parts are small, and a long row is written in pieces. */
enum { PART_ROWS = 1 << 10 };

struct expand {
    const struct operator_job *job;
    const struct workers *workers;
    const struct column *begins, *counts, *limits; /* limits: NULL: all places count */
    struct maxima maxima;
    struct column *rows, *places; /* NULL where not needed */
    struct parts parts;
    int64_t *starts; /* of each part: its result rows, then where they begin */
};

struct block {
    int64_t begins[OPERATOR_BLOCK], counts[OPERATOR_BLOCK], limits[OPERATOR_BLOCK];
};

/* The limits of rows become the least elements above them, INT64_MAX in all rows of which none is. */
static void read_block(const struct expand *expand, int64_t row, int count, struct block *block)
{
    const struct expand_above *above = &expand->job->task->column_op->above;
    operator_values(expand->begins, row, count, block->begins);
    operator_values(expand->counts, row, count, block->counts);
    if (!expand->limits)
        return;
    operator_values(expand->limits, row, count, block->limits);
    for (int i = 0; i < count && !above->or_equal; i++) {
        if (block->limits[i] == INT64_MAX)
            block->counts[i] = 0;
        else
            block->limits[i]++;
    }
}

/* How many places of a row count. */
static int64_t count_row(const struct expand *expand, int64_t begin, int64_t count, int64_t least)
{
    int64_t found = 0, end = begin + count;
    for (int64_t at = maxima_next(&expand->maxima, begin, end, least); at < end;
         at = maxima_next(&expand->maxima, at + 1, end, least)) {
        found++;
        if (found % OPERATOR_BLOCK == 0 && workers_cancelled(expand->workers))
            break;
    }
    return found == 0 && expand->job->task->column_op->above.keeps ? 1 : found;
}

static void count_part(void *context, struct part part)
{
    const struct expand *expand = context;
    int64_t end = part.end, total = 0;
    struct block block;
    for (int64_t row = part.begin; row < end && !workers_cancelled(expand->workers); row += OPERATOR_BLOCK) {
        const int count = (int)min_int64(end - row, OPERATOR_BLOCK);
        read_block(expand, row, count, &block);
        for (int i = 0; i < count; i++)
            total +=
                expand->limits ? count_row(expand, block.begins[i], block.counts[i], block.limits[i]) : block.counts[i];
    }
    expand->starts[part.number] = total;
}

/* The result rows of one row, in pieces; `at` is the first one. */
static void write_row(const struct expand *expand, int64_t row, int64_t begin, int64_t count, int64_t at)
{
    int64_t rows[OPERATOR_BLOCK], places[OPERATOR_BLOCK];
    for (int64_t done = 0; done < count && !workers_cancelled(expand->workers); done += OPERATOR_BLOCK) {
        const int piece = (int)min_int64(count - done, OPERATOR_BLOCK);
        for (int i = 0; i < piece; i++) {
            rows[i] = row;
            places[i] = begin < 0 ? -1 : begin + done + i;
        }
        if (expand->rows)
            operator_write_ints(expand->rows, at + done, rows, piece);
        if (expand->places)
            operator_write_ints(expand->places, at + done, places, piece);
    }
}

/* Pairs collected before they are written. */
struct pairs {
    int64_t rows[OPERATOR_BLOCK], places[OPERATOR_BLOCK];
    int count;
    int64_t at;
};

static void flush(const struct expand *expand, struct pairs *pairs)
{
    if (expand->rows)
        operator_write_ints(expand->rows, pairs->at, pairs->rows, pairs->count);
    if (expand->places)
        operator_write_ints(expand->places, pairs->at, pairs->places, pairs->count);
    pairs->at += pairs->count;
    pairs->count = 0;
}

static void add_row(const struct expand *expand, struct pairs *pairs, int64_t row, int64_t begin, int64_t count)
{
    if (pairs->count + count > OPERATOR_BLOCK)
        flush(expand, pairs);
    if (count > OPERATOR_BLOCK) {
        write_row(expand, row, begin, count, pairs->at);
        pairs->at += count;
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        pairs->rows[pairs->count] = row;
        pairs->places[pairs->count++] = begin < 0 ? -1 : begin + i;
    }
}

static void add_pair(const struct expand *expand, struct pairs *pairs, int64_t row, int64_t place)
{
    if (pairs->count == OPERATOR_BLOCK)
        flush(expand, pairs);
    pairs->rows[pairs->count] = row;
    pairs->places[pairs->count++] = place;
}

static void add_found(const struct expand *expand, struct pairs *pairs, int64_t row, const struct block *block, int i)
{
    const int64_t begin = block->begins[i], end = begin + block->counts[i], least = block->limits[i];
    int64_t at = maxima_next(&expand->maxima, begin, end, least);
    if (at >= end && expand->job->task->column_op->above.keeps)
        add_pair(expand, pairs, row, -1);
    for (; at < end; at = maxima_next(&expand->maxima, at + 1, end, least)) {
        add_pair(expand, pairs, row, at);
        if (pairs->count == OPERATOR_BLOCK && workers_cancelled(expand->workers))
            break;
    }
}

static void write_part(void *context, struct part part)
{
    const struct expand *expand = context;
    const int64_t end = part.end;
    struct block block;
    struct pairs pairs;
    pairs.count = 0;
    pairs.at = expand->starts[part.number];
    for (int64_t row = part.begin; row < end && !workers_cancelled(expand->workers); row += OPERATOR_BLOCK) {
        const int count = (int)min_int64(end - row, OPERATOR_BLOCK);
        read_block(expand, row, count, &block);
        for (int i = 0; i < count; i++) {
            if (expand->limits)
                add_found(expand, &pairs, row + i, &block, i);
            else
                add_row(expand, &pairs, row + i, block.begins[i], block.counts[i]);
        }
    }
    flush(expand, &pairs);
}

/* Of row numbers 0 .. rows - 1, or of places, whose range is that of their beginnings and counts. */
static struct column *reserve(const struct expand *expand, int64_t lo, int64_t hi, int64_t rows)
{
    const bool narrow = lo >= INT32_MIN && hi <= INT32_MAX;
    struct column *column = column_reserve_from(expand->job->pool, TYPE_I64, narrow ? TYPE_I32 : TYPE_I64, rows);
    if (column && lo <= hi) {
        column_set_range(column, true, lo, hi);
    }
    return column;
}

static enum status write_pairs(struct expand *expand, const struct workers *workers, int64_t total)
{
    const struct operator_job *job = expand->job;
    const struct task *task = job->task;
    const int64_t most = job->task->column_op->into; /* places are below this */
    size_t row_bytes = 0;
    for (size_t k = 0; k < task->output_count; k++)
        row_bytes += task->outputs[k].needed ? sizeof(int32_t) : 0;
    const enum status status = memory_rows_check(job->pool, total, total, (int64_t)row_bytes, task->span, job->diags);
    if (status != STATUS_OK)
        return status;
    if (task->outputs[0].needed)
        expand->rows = job->results[0] = reserve(expand, 0, max_int64(job->rows - 1, 0), total);
    if (task->outputs[1].needed)
        expand->places = job->results[1] = reserve(expand, -1, max_int64(most - 1, 0), total);
    if ((task->outputs[0].needed && !expand->rows) || (task->outputs[1].needed && !expand->places))
        return operator_no_memory(job);
    const bool done = workers_run_parts(workers, &expand->parts, write_part, expand);
    columns_finish(job->results, task->output_count, total, done);
    return done ? STATUS_OK : STATUS_CANCELLED;
}

enum status operator_expand(const struct operator_job *job, const struct workers *workers, bool *flagged)
{
    (void)flagged; /* cannot fail */
    const struct column_operator *column_op = job->task->column_op;
    struct expand expand = {.job = job,
                            .workers = workers,
                            .begins = job->inputs[column_op->keys[0]],
                            .counts = job->inputs[column_op->keys[1]],
                            .parts = partition_rows(workers, job->rows, PART_ROWS)};
    if (column_op->above.elements) {
        expand.limits = job->inputs[column_op->keys[2]];
        if (!maxima_init(&expand.maxima, column_op->above.elements))
            return operator_no_memory(job);
    }
    expand.starts = heap_array((size_t)expand.parts.count + 1, sizeof *expand.starts);
    enum status status = STATUS_CANCELLED;
    if (workers_run_parts(workers, &expand.parts, count_part, &expand)) {
        *job->result_rows = begins_of_counts(expand.starts, expand.parts.count);
        status = write_pairs(&expand, workers, *job->result_rows);
    }
    free(expand.starts);
    maxima_release(&expand.maxima);
    return status;
}
