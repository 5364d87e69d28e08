/* Match: merging the segments by the numbers of the left's rows, in blocks of these. */
#include "engine/match/match.h"

#include "base/buffer_pool.h"
#include "base/heap.h"
#include "base/integer.h"
#include "engine/backend/memory_limit.h"
#include "engine/vector/elements.h"

#include <stdlib.h>
#include <string.h>

enum { READ_ROWS = 1 << 13 };

struct merging {
    const struct matching *matching;
    bool keeps;      /* rows of the left that found nothing */
    bool drops;      /* those that found something */
    int64_t *begins; /* of each block of the left's rows: result rows */
    struct column **results;
    struct scratch *scratch; /* of each thread */
};

struct scratch {
    int64_t *counts; /* of a block */
    char **buffers;  /* of each output, NULL: not used yet */
    int64_t numbers[READ_ROWS];
    uint64_t elements[READ_ROWS];
};

/* A block of the left's rows, and where in each segment its rows are; until they are counted, to whole stretches. */
struct block {
    int64_t begin, end;
    struct run {
        const struct match_segment *segment;
        int64_t begin, end;
    } * runs;
    size_t run_count;
    int64_t *counts; /* of each row: how many it has found, then where the next one goes */
};

/* Elements of a segment's column, which may be read to the buffer. */
static const void *read_elements(const struct merging *merging, const struct column *column, int64_t row, int64_t count,
                                 void *buffer)
{
    return buffer_pool_read(merging->matching->workers->pool, column_at((struct column *)column, row), buffer,
                            (size_t)count * type_table[column->store].size);
}

/* The numbers of a segment's rows. */
static void read_numbers(const struct merging *merging, struct scratch *scratch, const struct match_segment *segment,
                         int64_t row, int64_t count)
{
    const struct column *from = segment->columns[0];
    const void *elements = read_elements(merging, from, row, count, scratch->elements);
    for (int64_t i = 0; i < count; i++)
        scratch->numbers[i] = from->store == TYPE_I32 ? ((const int32_t *)elements)[i] : ((const int64_t *)elements)[i];
}

/* The place of the first number, of ascending ones, that is at least this. */
static int64_t find(const int64_t *numbers, int64_t count, int64_t number)
{
    int64_t begin = 0;
    while (begin < count) {
        const int64_t middle = begin + (count - begin) / 2;
        if (numbers[middle] < number)
            begin = middle + 1;
        else
            count = middle;
    }
    return begin;
}

static void open_block(const struct merging *merging, struct scratch *scratch, int64_t number, struct block *block)
{
    const struct matching *matching = merging->matching;
    block->begin = number * matching->block;
    block->end = min_int64(block->begin + matching->block, matching->rows);
    block->runs = heap_array(matching->segment_count + 1, sizeof *block->runs);
    if (!scratch->counts)
        scratch->counts = heap_array((size_t)matching->block + 1, sizeof *scratch->counts);
    block->counts = scratch->counts;
    memset(block->counts, 0, (size_t)matching->block * sizeof *block->counts);
    block->run_count = 0;
    for (size_t i = 0; i < matching->segment_count; i++) {
        const struct match_segment *segment = &matching->segments[i];
        if (segment->last < block->begin || segment->first >= block->end)
            continue;
        const int64_t stretches = divide_up(segment->rows, MATCH_STRIDE);
        const int64_t begin = max_int64(find(segment->every, stretches, block->begin) - 1, 0) * MATCH_STRIDE;
        const int64_t end = find(segment->every, stretches, block->end) * MATCH_STRIDE;
        block->runs[block->run_count++] = (struct run){segment, begin, min_int64(end, segment->rows)};
    }
}

/* Counts what each row of the block has found, and finds where its rows begin and end. */
static void count_found(const struct merging *merging, struct scratch *scratch, struct block *block)
{
    for (size_t i = 0; i < block->run_count; i++) {
        struct run *run = &block->runs[i];
        const int64_t first = run->begin, last = run->end;
        for (int64_t at = first; at < last && !workers_cancelled(merging->matching->workers); at += READ_ROWS) {
            const int64_t rows = min_int64(last - at, READ_ROWS);
            read_numbers(merging, scratch, run->segment, at, rows);
            const int64_t begin = at > first ? 0 : find(scratch->numbers, rows, block->begin);
            const int64_t end = find(scratch->numbers, rows, block->end);
            for (int64_t j = begin; j < end; j++)
                block->counts[scratch->numbers[j] - block->begin]++;
            run->begin = at > first ? run->begin : at + begin;
            run->end = at + end;
        }
    }
}

/* The result rows of a row that has found so many, or, one of the right, has been added so often. */
static int64_t rows_of(const struct merging *merging, int64_t row, int64_t found)
{
    if (found == 0)
        return merging->keeps && row < merging->matching->job->rows;
    return merging->drops ? 0 : found;
}

/* The result rows of a block. */
static int64_t block_rows(const struct merging *merging, int64_t number)
{
    const struct matching *matching = merging->matching;
    const struct match_count *count = &matching->counts[number];
    const int64_t rows = min_int64(matching->job->rows - number * matching->block, matching->block);
    return (merging->keeps ? max_int64(rows, 0) - count->finders : 0) + (merging->drops ? 0 : count->found);
}

/* Writes the numbers of the rows, and whether they have found something; counts become places. */
static void write_rows(const struct merging *merging, struct block *block, void *numbers, bool narrow, uint8_t *found)
{
    int64_t at = 0;
    for (int64_t row = block->begin; row < block->end; row++) {
        int64_t *count = &block->counts[row - block->begin];
        const bool some = *count > 0;
        const int64_t shown = row < merging->matching->job->rows ? row : -1;
        const int64_t end = at + rows_of(merging, row, *count);
        *count = at;
        for (; at < end; at++) {
            if (numbers && narrow)
                ((int32_t *)numbers)[at] = (int32_t)shown;
            else if (numbers)
                ((int64_t *)numbers)[at] = shown;
            if (found)
                found[at] = some;
        }
    }
}

/* Inlined once for each size. */
static inline __attribute__((always_inline)) void put_as(const char *from, const int64_t *places, int count, char *to,
                                                         size_t size)
{
    for (int i = 0; i < count; i++)
        memcpy(to + (size_t)places[i] * size, from + (size_t)i * size, size);
}

static void put(const char *from, size_t size, const int64_t *places, int count, char *to)
{
    switch (size) {
    case 1:
        put_as(from, places, count, to, 1);
        break;
    case 2:
        put_as(from, places, count, to, 2);
        break;
    case 4:
        put_as(from, places, count, to, 4);
        break;
    default:
        put_as(from, places, count, to, 8);
    }
}

/* Writes the columns of the right, in the places of the rows. */
static void write_values(const struct merging *merging, struct scratch *scratch, const struct block *block,
                         char *const *to)
{
    const struct matching *matching = merging->matching;
    int64_t *places = scratch->numbers;
    for (size_t i = 0; i < block->run_count; i++) {
        const struct run *run = &block->runs[i];
        for (int64_t at = run->begin; at < run->end && !workers_cancelled(matching->workers); at += READ_ROWS) {
            const int count = (int)min_int64(run->end - at, READ_ROWS);
            read_numbers(merging, scratch, run->segment, at, count);
            for (int j = 0; j < count; j++)
                places[j] = block->counts[places[j] - block->begin]++;
            for (size_t k = 0; k < matching->match->value_count; k++) {
                const struct column *from = run->segment->columns[1 + k];
                if (to[MATCH_COLUMNS + k])
                    put(read_elements(merging, from, at, count, scratch->elements), type_table[from->store].size,
                        places, count, to[MATCH_COLUMNS + k]);
            }
        }
    }
}

/* A thread's buffer for an output. */
static char *buffer_of(const struct merging *merging, int member, size_t output)
{
    char **buffer = &merging->scratch[member].buffers[output];
    if (!*buffer)
        *buffer = heap_array(2 * (size_t)merging->matching->block, type_table[merging->results[output]->store].size);
    return *buffer;
}

/* Results are written where they belong, or, if there are few, to buffers that are copied there: that saves the page
 * faults of stores to spilled memory. */
static void write_block(void *context, int member, int64_t number)
{
    const struct merging *merging = context;
    const struct matching *matching = merging->matching;
    const size_t outputs = matching->match->value_count + MATCH_COLUMNS;
    const int64_t begin = merging->begins[number], rows = merging->begins[number + 1] - begin;
    const bool buffered = rows <= 2 * matching->block;
    if (rows == 0)
        return;
    char **to = heap_array(outputs, sizeof *to);
    for (size_t k = 0; k < outputs; k++) {
        struct column *column = merging->results[k];
        if (column)
            to[k] = buffered ? buffer_of(merging, member, k) : column_at(column, begin);
        if (column && merging->keeps && k >= MATCH_COLUMNS) /* where nothing is found */
            memset(to[k], 0, (size_t)rows * type_table[column->store].size);
    }
    struct block block;
    struct scratch *scratch = &merging->scratch[member];
    open_block(merging, scratch, number, &block);
    count_found(merging, scratch, &block);
    write_rows(merging, &block, to[MATCH_ROW], matching->number.store == TYPE_I32, (uint8_t *)to[MATCH_FOUND]);
    if (match_takes(matching->match))
        write_values(merging, scratch, &block, to);
    free(block.runs);
    for (size_t k = 0; k < outputs && buffered; k++) {
        struct column *column = merging->results[k];
        if (to[k])
            buffer_pool_write(matching->workers->pool, column_at(column, begin), to[k],
                              (size_t)rows * type_table[column->store].size);
    }
    free(to);
}

static bool reserve_results(const struct merging *merging, int64_t rows)
{
    const struct operator_job *job = merging->matching->job;
    const struct match_operator *match = merging->matching->match;
    const size_t *values = &job->task->column_op->keys[match->key_count * MATCH_KEY_INPUTS];
    bool reserved = true;
    for (size_t k = 0; k < job->task->output_count; k++) {
        struct column **result = &job->results[k];
        if (!job->task->outputs[k].needed)
            continue;
        if (k == MATCH_ROW)
            *result = column_reserve_like(job->pool, &merging->matching->number, TYPE_I64, rows);
        else if (k == MATCH_FOUND)
            *result = column_reserve_from(job->pool, TYPE_BOOL, TYPE_BOOL, rows);
        else
            *result = column_reserve_like(job->pool, job->inputs[values[k - MATCH_COLUMNS]], job->task->outputs[k].type,
                                          rows);
        /* Where nothing is found there is a 0. */
        if (*result && merging->keeps && k >= MATCH_COLUMNS && (*result)->range_known)
            column_set_range(*result, true, min_int64((*result)->lo, 0), max_int64((*result)->hi, 0));
        reserved = reserved && *result;
    }
    return reserved;
}

static enum status check_memory(const struct merging *merging, int64_t rows)
{
    const struct operator_job *job = merging->matching->job;
    int64_t row_bytes = 0;
    for (size_t k = 0; k < job->task->output_count; k++)
        row_bytes += job->task->outputs[k].needed ? (int64_t)type_table[job->task->outputs[k].type].size : 0;
    return memory_rows_check(job->pool, rows, rows, row_bytes, job->task->span, job->diags);
}

enum status match_merge(const struct matching *matching)
{
    const struct operator_job *job = matching->job;
    const enum join_kind kind = matching->match->kind;
    const int64_t blocks = divide_up(matching->rows, matching->block);
    struct merging merging = {.matching = matching,
                              .keeps =
                                  kind == JOIN_LEFT || kind == JOIN_LOOKUP || kind == JOIN_ANTI || kind == JOIN_FULL,
                              .drops = kind == JOIN_ANTI,
                              .results = job->results};
    const size_t outputs = matching->match->value_count + MATCH_COLUMNS;
    merging.begins = heap_array((size_t)blocks + 1, sizeof *merging.begins);
    merging.scratch = heap_array((size_t)matching->workers->threads, sizeof *merging.scratch);
    for (int member = 0; member < matching->workers->threads; member++)
        merging.scratch[member].buffers = heap_array(outputs, sizeof(char *));
    for (int64_t block = 0; block < blocks; block++)
        merging.begins[block] = block_rows(&merging, block);
    const int64_t rows = *job->result_rows = begins_of_counts(merging.begins, blocks);
    merging.begins[blocks] = rows;
    enum status status = check_memory(&merging, rows);
    if (status == STATUS_OK && !reserve_results(&merging, rows))
        status = operator_no_memory(job);
    if (status == STATUS_OK &&
        (!workers_run(matching->workers, blocks, write_block, &merging) || workers_cancelled(matching->workers)))
        status = STATUS_CANCELLED;
    columns_finish(job->results, job->task->output_count, rows, status == STATUS_OK);
    for (int member = 0; member < matching->workers->threads; member++) {
        for (size_t k = 0; k < outputs; k++)
            free(merging.scratch[member].buffers[k]);
        free(merging.scratch[member].buffers);
        free(merging.scratch[member].counts);
    }
    free(merging.scratch);
    free(merging.begins);
    return status;
}
