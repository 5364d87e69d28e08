/* Distinct: keeps the first row of each group, marked in a bitmap of rows so that they are written in order. */
#include "engine/grouping/first_rows.h"
#include "engine/grouping/grouping.h"
#include "engine/operators/operator.h"
#include "engine/sorting/row_parts.h"
#include "engine/sorting/sort_rows.h"
#include "engine/vector/elements.h"

#include "base/heap.h"
#include "base/zeroed.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { COUNT, FIRST, AGGREGATES };
enum { WORD_BITS = 64, PART_WORDS = 1 << 9 };

struct distinct {
    const struct operator_job *job;
    const struct workers *workers;
    _Atomic uint64_t *kept;
    struct parts parts; /* of the words of the bitmap */
    int64_t *begins;    /* of each part: its first result row */
};

static bool prepare(void *context, int64_t most)
{
    (void)context, (void)most;
    return true;
}

static size_t kept_bytes(int64_t rows)
{
    return ((size_t)rows / WORD_BITS + 1) * sizeof(uint64_t);
}

static void keep(const struct distinct *distinct, int64_t row)
{
    atomic_fetch_or_explicit(&distinct->kept[row / WORD_BITS], UINT64_C(1) << (row % WORD_BITS), memory_order_relaxed);
}

static void emit(void *context, const struct found *found)
{
    const struct distinct *distinct = context;
    const int64_t *first = found->states[FIRST];
    for (int i = 0; i < found->count; i++)
        keep(distinct, first[found->places[i]]);
}

static void count_part(void *context, struct part part)
{
    const struct distinct *distinct = context;
    int64_t count = 0;
    for (int64_t i = part.begin; i < part.end; i++) {
        const uint64_t kept = atomic_load_explicit(&distinct->kept[i], memory_order_relaxed);
        count += kept != 0 ? __builtin_popcountll(kept) : 0; /* few words have any */
    }
    distinct->begins[part.number] = count;
}

static void write_rows(const struct distinct *distinct, const uint64_t *rows, int count, int64_t at)
{
    const struct operator_job *job = distinct->job;
    for (size_t k = 0; k < job->task->output_count && count > 0; k++) {
        if (job->results[k])
            column_gather(operator_input(job, job->task->outputs[k].value), rows, count,
                          column_at(job->results[k], at));
    }
}

static void write_part(void *context, struct part part)
{
    const struct distinct *distinct = context;
    uint64_t rows[KEY_BLOCK];
    int count = 0;
    int64_t at = distinct->begins[part.number];
    for (int64_t i = part.begin; i < part.end; i++) {
        uint64_t word = atomic_load_explicit(&distinct->kept[i], memory_order_relaxed);
        for (; word != 0; word &= word - 1)
            rows[count++] = (uint64_t)i * WORD_BITS + (uint64_t)__builtin_ctzll(word);
        if (count > KEY_BLOCK - WORD_BITS) {
            if (workers_cancelled(distinct->workers))
                return;
            write_rows(distinct, rows, count, at);
            at += count;
            count = 0;
        }
    }
    write_rows(distinct, rows, count, at);
}

static bool make_results(const struct operator_job *job, int64_t rows)
{
    for (size_t k = 0; k < job->task->output_count; k++) {
        const struct output *output = &job->task->outputs[k];
        if (!output->needed)
            continue;
        job->results[k] = column_reserve_like(job->pool, operator_input(job, output->value), output->type, rows);
        if (!job->results[k])
            return false;
    }
    return true;
}

/* Only the number of rows may be read. */
static bool is_any_needed(const struct operator_job *job)
{
    bool any = false;
    for (size_t k = 0; k < job->task->output_count; k++)
        any = any || job->task->outputs[k].needed;
    return any;
}

static enum status keep_rows(struct distinct *distinct, int64_t groups)
{
    if (!is_any_needed(distinct->job))
        return STATUS_OK;
    distinct->parts = partition_rows(distinct->workers, distinct->job->rows / WORD_BITS + 1, PART_WORDS);
    distinct->begins = heap_array((size_t)distinct->parts.count, sizeof *distinct->begins);
    enum status status = STATUS_CANCELLED;
    if (workers_run_parts(distinct->workers, &distinct->parts, count_part, distinct)) {
        (void)begins_of_counts(distinct->begins, distinct->parts.count);
        if (!make_results(distinct->job, groups))
            status = STATUS_FAILED;
        else if (workers_run_parts(distinct->workers, &distinct->parts, write_part, distinct))
            status = STATUS_OK;
    }
    free(distinct->begins);
    return status;
}

static enum status find_rows(const struct distinct *distinct, const struct column *const *columns, int64_t rows,
                             int64_t *groups);

/* Sets the bits of the rows that a part keeps. */
static void keep_part(const struct distinct *distinct, const struct distinct *part, const struct column *numbers)
{
    uint64_t rows[WORD_BITS];
    for (int64_t i = 0; i < numbers->rows; i += WORD_BITS) {
        uint64_t word = atomic_load_explicit(&part->kept[i / WORD_BITS], memory_order_relaxed);
        const int count = numbers->rows - i < WORD_BITS ? (int)(numbers->rows - i) : WORD_BITS;
        if (word != 0)
            operator_values(numbers, i, count, rows);
        for (; word != 0; word &= word - 1)
            keep(distinct, (int64_t)rows[__builtin_ctzll(word)]);
    }
}

static enum status find_in_part(const struct distinct *distinct, const struct column *const *columns,
                                const struct column *numbers, int64_t *groups)
{
    struct distinct part = *distinct;
    const size_t size = kept_bytes(numbers->rows);
    int64_t found = 0;
    part.kept = zeroed_alloc(size);
    const enum status status = part.kept ? find_rows(&part, columns, numbers->rows, &found) : STATUS_FAILED;
    if (status == STATUS_OK)
        keep_part(distinct, &part, numbers);
    *groups += found;
    zeroed_free(part.kept, size);
    return status;
}

/* Finds the rows part by part, since memory has no room for `row_bytes` bytes of each row. */
static enum status find_in_parts(const struct distinct *distinct, const struct keys *keys,
                                 const struct column *const *columns, int64_t rows, int64_t row_bytes, int64_t *groups)
{
    const size_t count = distinct->job->task->output_count;
    const struct column **own = heap_array(count, sizeof *own);
    struct row_parts parts;
    enum status status = row_parts_make(&parts, keys, rows, row_bytes, distinct->workers, columns, count, true);
    *groups = 0;
    for (int64_t part = 0; part < parts.count && status == STATUS_OK; part++) {
        const int64_t in_part = row_parts_open(&parts, part);
        for (size_t k = 0; k < count; k++)
            own[k] = row_parts_column(&parts, columns[k]);
        if (in_part > 0)
            status = find_in_part(distinct, own, row_parts_column(&parts, &parts.numbers), groups);
    }
    row_parts_free(&parts);
    free(own);
    return status;
}

/* Keys of many possible values. */
static enum status find_by_key(const struct distinct *distinct, const struct packed_keys *word,
                               const struct column *const *columns, int64_t rows, int64_t *groups)
{
    const struct group_aggregate group_aggs[AGGREGATES] = {
        [COUNT] = {.kind = AGG_COUNT}, [FIRST] = {.kind = AGG_FIRST}};
    const struct grouping grouping = {
        .workers = distinct->workers,
        .rows = rows,
        .keys = word->by,
        .group_aggs = group_aggs,
        .group_agg_count = AGGREGATES,
        .prepare = prepare,
        .emit = emit,
        .context = (void *)distinct,
    };
    bool few = false;
    const enum status status = group_hash(&grouping, &few, groups);
    if (status != STATUS_OK || few)
        return status;
    const int64_t row_bytes = grouping_row_bytes(&grouping);
    if (row_parts_pay(word->by, rows, row_bytes, distinct->workers->pool))
        return find_in_parts(distinct, word->by, columns, rows, row_bytes, groups);
    return word->by->words > 1 ? group_partitioned(&grouping, groups)
                               : first_rows_partitioned(word->by, rows, distinct->workers, distinct->kept, groups);
}

static enum status find_rows(const struct distinct *distinct, const struct column *const *columns, int64_t rows,
                             int64_t *groups)
{
    enum { RANKED_ROW = 64 /* bytes of a row whose keys are ranked */ };
    struct packed_keys word;
    enum status status =
        packed_keys_init(&word, columns, distinct->job->task->output_count, rows, distinct->workers, CARRIED_WORDS);
    if (status == STATUS_OK && word.too_large)
        status = find_in_parts(distinct, &word.keys, columns, rows, RANKED_ROW, groups);
    else if (status == STATUS_OK && word.by->words == 1 && first_rows_pays(word.by, rows))
        status = first_rows(word.by, rows, distinct->workers, distinct->kept, groups);
    else if (status == STATUS_OK)
        status = find_by_key(distinct, &word, columns, rows, groups);
    packed_keys_free(&word);
    return status;
}

static enum status find_groups(const struct distinct *distinct, int64_t *groups)
{
    const struct operator_job *job = distinct->job;
    const struct column **columns = heap_array(job->task->output_count, sizeof *columns);
    for (size_t k = 0; k < job->task->output_count; k++)
        columns[k] = operator_input(job, job->task->outputs[k].value);
    const enum status status = find_rows(distinct, columns, job->rows, groups);
    free(columns);
    return status;
}

enum status operator_distinct(const struct operator_job *job, const struct workers *workers, bool *flagged)
{
    (void)flagged; /* cannot fail */
    struct distinct distinct = {.job = job, .workers = workers};
    const size_t size = kept_bytes(job->rows);
    *job->result_rows = 0;
    distinct.kept = zeroed_alloc(size);
    enum status status = distinct.kept ? STATUS_OK : STATUS_FAILED;
    if (status == STATUS_OK && job->rows > 0)
        status = find_groups(&distinct, job->result_rows);
    if (status == STATUS_OK)
        status = keep_rows(&distinct, *job->result_rows);
    zeroed_free(distinct.kept, size);
    columns_finish(job->results, job->task->output_count, *job->result_rows, status == STATUS_OK);
    return operator_report(job, status);
}
