/* Rows in the order of groups: one sort of keys with row numbers. Where the rows are in that order already, only their
 * groups are counted; where memory has no room for the sort, they are divided on the disk by their keys. */
#include "engine/operators/operator.h"
#include "engine/sorting/radix_sort.h"
#include "engine/sorting/row_parts.h"
#include "engine/sorting/sort_rows.h"
#include "engine/vector/elements.h"

#include "base/buffer_pool.h"
#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

enum { PART_ROWS = 1 << 16, WORD_BITS = 64 };

struct partition {
    const struct workers *workers;
    const struct keys *keys;
    uint64_t *order; /* rows in order, of keys of several words */
    int64_t rows;
    int row_bits;
    size_t width;                 /* of an element: a code and, below it, a row number */
    struct column *place, *group; /* NULL: not needed */
    uint8_t *begins;              /* of each row of the result: whether it is the first of its group */
    struct parts parts;
    int64_t *before; /* groups that begin before each part */
    _Atomic bool unsorted;
};

/* ---- rows in order already ---- */

/* Marks rows whose keys differ from those of the row before; false if some key descends. `rows` lists one row more than
 * there are marks, the first of which is the row before; NULL: they follow each other from `row` on. */
static bool mark_begins(const struct keys *keys, int64_t row, const uint64_t *rows, int count, uint8_t *begins)
{
    uint64_t codes[KEY_BLOCK + 1];
    bool descends = false;
    memset(begins, 0, (size_t)count);
    for (int word = 0; word < keys->words; word++) {
        if (rows) {
            keys_read_at(keys, word, rows, 1, codes);
            keys_read_at(keys, word, rows + 1, count, codes + 1);
        } else {
            keys_read(keys, word, row, 1, codes);
            keys_read(keys, word, row + 1, count, codes + 1);
        }
        for (int i = 0; i < count; i++) {
            descends |= !begins[i] && codes[i + 1] < codes[i];
            begins[i] |= codes[i + 1] != codes[i];
        }
    }
    return !descends;
}

/* Part by part: whether the keys ascend, and where groups begin if they do. */
static void check_part(void *context, struct part part)
{
    struct partition *partition = context;
    const int64_t begin = part.begin, end = part.end;
    for (int64_t row = begin > 0 ? begin : 1;
         row < end && !partition->unsorted && !workers_cancelled(partition->workers); row += KEY_BLOCK) {
        const int count = end - row < KEY_BLOCK ? (int)(end - row) : KEY_BLOCK;
        if (!mark_begins(partition->keys, row - 1, NULL, count, &partition->begins[row]))
            partition->unsorted = true;
    }
    if (begin == 0)
        partition->begins[0] = 1;
}

static void set_place(struct column *place, int64_t row, int count)
{
    int64_t rows[KEY_BLOCK];
    for (int i = 0; i < count; i++)
        rows[i] = row + i;
    operator_write_ints(place, row, rows, count);
}

static void keep_places(void *context, struct part part)
{
    const struct partition *partition = context;
    for (int64_t row = part.begin; row < part.end && !workers_cancelled(partition->workers); row += KEY_BLOCK)
        set_place(partition->place, row, part.end - row < KEY_BLOCK ? (int)(part.end - row) : KEY_BLOCK);
}

/* ---- sorting ---- */

static void read_elements(void *context, int64_t row, int count, void *elements)
{
    const struct partition *partition = context;
    uint64_t codes[KEY_BLOCK];
    keys_read(partition->keys, 0, row, count, codes);
    if (partition->width == sizeof(struct radix_pair)) {
        struct radix_pair *pairs = elements;
        for (int i = 0; i < count; i++)
            pairs[i] = (struct radix_pair){.key = codes[i], .payload = (uint64_t)(row + i)};
        return;
    }
    uint64_t *words = elements;
    for (int i = 0; i < count; i++)
        words[i] = codes[i] << partition->row_bits | (uint64_t)(row + i);
}

static void write_block(const struct partition *partition, int64_t row, const uint64_t *codes, const int64_t *rows,
                        int count, uint64_t *last)
{
    for (int i = 0; i < count; i++) {
        partition->begins[row + i] = codes[i] != *last;
        *last = codes[i];
    }
    if (partition->place)
        operator_write_ints(partition->place, row, rows, count);
}

/* Equal keys are in one call, so its first row begins a group. */
static void write_elements(void *context, int member, int64_t row, const void *elements, int64_t count)
{
    (void)member;
    const struct partition *partition = context;
    const struct radix_pair *pairs = elements;
    const uint64_t *words = elements;
    const bool wide = partition->width == sizeof(struct radix_pair);
    const uint64_t mask = (UINT64_C(1) << partition->row_bits) - 1;
    uint64_t codes[KEY_BLOCK], last = wide ? pairs[0].key : words[0] >> partition->row_bits;
    int64_t rows[KEY_BLOCK];
    for (int64_t begin = 0; begin < count; begin += KEY_BLOCK) {
        const int block = count - begin < KEY_BLOCK ? (int)(count - begin) : KEY_BLOCK;
        for (int i = 0; i < block; i++) {
            codes[i] = wide ? pairs[begin + i].key : words[begin + i] >> partition->row_bits;
            rows[i] = (int64_t)(wide ? pairs[begin + i].payload : words[begin + i] & mask);
        }
        write_block(partition, row + begin, codes, rows, block, &last);
    }
    if (count > 0)
        partition->begins[row] = 1;
}

/* Keys of several words: rows were ordered by one after another. */
static void write_part(void *context, struct part part)
{
    const struct partition *partition = context;
    const int64_t begin = part.begin, end = part.end;
    for (int64_t row = begin > 0 ? begin : 1; row < end && !workers_cancelled(partition->workers); row += KEY_BLOCK) {
        const int count = end - row < KEY_BLOCK ? (int)(end - row) : KEY_BLOCK;
        (void)mark_begins(partition->keys, 0, partition->order + row - 1, count, &partition->begins[row]);
    }
    if (begin == 0)
        partition->begins[0] = 1;
    for (int64_t row = begin; row < end && partition->place && !workers_cancelled(partition->workers);
         row += KEY_BLOCK) {
        const int count = end - row < KEY_BLOCK ? (int)(end - row) : KEY_BLOCK;
        int64_t rows[KEY_BLOCK];
        memcpy(rows, partition->order + row, (size_t)count * sizeof *rows);
        operator_write_ints(partition->place, row, rows, count);
    }
}

static enum status order_partition(struct partition *partition, const struct workers *workers)
{
    size_t got = 0;
    partition->order = buffer_pool_alloc(workers->pool, (size_t)partition->rows * sizeof *partition->order, &got);
    enum status status =
        partition->order ? order_rows(partition->keys, partition->rows, workers, partition->order) : STATUS_FAILED;
    if (status == STATUS_OK && !workers_run_parts(workers, &partition->parts, write_part, partition))
        status = STATUS_CANCELLED;
    buffer_pool_release(workers->pool, partition->order, got);
    return status;
}

static enum status sort_partition(struct partition *partition, const struct workers *workers)
{
    const int bits = partition->keys->word_bits[0];
    const bool wide = bits + partition->row_bits > WORD_BITS;
    partition->width = wide ? sizeof(struct radix_pair) : sizeof(uint64_t);
    const struct radix radix = {.workers = workers,
                                .rows = partition->rows,
                                .width = partition->width,
                                .shift = wide ? 0 : partition->row_bits,
                                .bits = bits,
                                .read = read_elements,
                                .emit = write_elements,
                                .context = partition};
    return radix_sort(&radix);
}

/* ---- more than memory has room for ---- */

static enum status run_partition(struct partition *partition, const struct workers *workers);

/* What sorting takes for a row: an element with room in buckets, or with its number and the keys' words. */
static int64_t row_bytes(const struct partition *partition)
{
    const int64_t words = partition->keys->words;
    return words > 1 ? (words + 4) * (int64_t)sizeof(uint64_t) : 2 * (int64_t)sizeof(struct radix_pair);
}

/* Makes rows of a part those of all. */
static void number_places(struct column *place, int64_t begin, const struct column *numbers)
{
    int64_t rows[KEY_BLOCK];
    for (int64_t i = 0; i < numbers->rows; i += KEY_BLOCK) {
        const int count = numbers->rows - i < KEY_BLOCK ? (int)(numbers->rows - i) : KEY_BLOCK;
        operator_values(place, begin + i, count, rows);
        for (int k = 0; k < count; k++)
            rows[k] = column_get_int(numbers, rows[k]);
        operator_write_ints(place, begin + i, rows, count);
    }
}

static enum status sort_part(const struct partition *partition, struct row_parts *parts, int64_t number, struct key *at)
{
    const struct keys *keys = partition->keys;
    const struct workers quiet = row_parts_workers(parts, number, partition->workers), *workers = &quiet;
    const int64_t begin = parts->begins[number], rows = row_parts_open(parts, number);
    if (rows == 0)
        return STATUS_OK;
    for (size_t i = 0; i < keys->count; i++)
        at[i] = (struct key){.column = row_parts_column(parts, keys->at[i].column)};
    struct column *all = partition->place, place;
    if (all)
        place = (struct column){.type = all->type, .store = all->store, .rows = rows, .data = column_at(all, begin)};
    if (all)
        place.reserved = all->reserved - (size_t)begin * type_table[all->store].size;
    struct keys own;
    struct partition part = {.workers = workers,
                             .keys = &own,
                             .rows = rows,
                             .row_bits = rows > 1 ? WORD_BITS - __builtin_clzll((uint64_t)rows - 1) : 1,
                             .place = all ? &place : NULL,
                             .begins = partition->begins + begin,
                             .parts = partition_rows(workers, rows, PART_ROWS)};
    enum status status = STATUS_CANCELLED;
    if (keys_init(&own, at, keys->count, rows, workers))
        status = run_partition(&part, workers);
    keys_free(&own);
    if (status == STATUS_OK && all)
        number_places(all, begin, row_parts_column(parts, &parts->numbers));
    return status;
}

static enum status sort_in_parts(const struct partition *partition, const struct workers *workers)
{
    const struct keys *keys = partition->keys;
    const struct column **columns = heap_array(keys->count, sizeof *columns);
    struct key *at = heap_array(keys->count, sizeof *at);
    struct row_parts parts;
    for (size_t i = 0; i < keys->count; i++)
        columns[i] = keys->at[i].column;
    if (partition->place && partition->place->pool)
        column_move_spilled(partition->place);
    enum status status = row_parts_make(&parts, keys, partition->rows, row_bytes(partition), workers, columns,
                                        keys->count, partition->place);
    for (int64_t part = 0; part < parts.count && status == STATUS_OK; part++)
        status = sort_part(partition, &parts, part, at);
    row_parts_free(&parts);
    free(columns);
    free(at);
    return status;
}

/* ---- numbering the groups ---- */

static void count_part(void *context, struct part part)
{
    const struct partition *partition = context;
    int64_t count = 0;
    for (int64_t row = part.begin; row < part.end; row++)
        count += partition->begins[row];
    partition->before[part.number] = count;
}

static void number_part(void *context, struct part part)
{
    const struct partition *partition = context;
    int64_t groups[KEY_BLOCK], group = partition->before[part.number] - 1;
    for (int64_t row = part.begin; row < part.end && !workers_cancelled(partition->workers); row += KEY_BLOCK) {
        const int count = part.end - row < KEY_BLOCK ? (int)(part.end - row) : KEY_BLOCK;
        for (int i = 0; i < count; i++) {
            group += partition->begins[row + i];
            groups[i] = group;
        }
        operator_write_ints(partition->group, row, groups, count);
    }
}

static bool number_groups(struct partition *partition, const struct workers *workers)
{
    partition->before = heap_array((size_t)partition->parts.count, sizeof *partition->before);
    bool done = workers_run_parts(workers, &partition->parts, count_part, partition);
    (void)begins_of_counts(partition->before, partition->parts.count);
    done = done && workers_run_parts(workers, &partition->parts, number_part, partition);
    free(partition->before);
    return done;
}

static enum status run_partition(struct partition *partition, const struct workers *workers)
{
    if (!workers_run_parts(workers, &partition->parts, check_part, partition))
        return STATUS_CANCELLED;
    enum status status = STATUS_OK;
    if (partition->unsorted && row_parts_pay(partition->keys, partition->rows, row_bytes(partition), workers->pool))
        status = sort_in_parts(partition, workers);
    else if (partition->unsorted)
        status = partition->keys->words > 1 ? order_partition(partition, workers) : sort_partition(partition, workers);
    else if (partition->place && !workers_run_parts(workers, &partition->parts, keep_places, partition))
        status = STATUS_CANCELLED;
    if (status == STATUS_OK && partition->group && !number_groups(partition, workers))
        status = STATUS_CANCELLED;
    return status;
}

static void set_range(struct column *column, int64_t rows)
{
    if (!column)
        return;
    column_set_range(column, rows > 0, 0, rows - 1);
}

enum status operator_partition(const struct operator_job *job, const struct workers *workers, bool *flagged)
{
    (void)flagged; /* cannot fail */
    const struct column_operator *column_op = job->task->column_op;
    struct partition partition = {.workers = workers,
                                  .rows = job->rows,
                                  .place = job->results[0],
                                  .group = job->results[1],
                                  .parts = partition_rows(workers, job->rows, PART_ROWS)};
    *job->result_rows = job->rows;
    if (job->rows == 0)
        return STATUS_OK;
    partition.row_bits = job->rows > 1 ? WORD_BITS - __builtin_clzll((uint64_t)job->rows - 1) : 1;
    struct key *at = heap_array(column_op->key_count, sizeof *at);
    for (size_t i = 0; i < column_op->key_count; i++)
        at[i].column = job->inputs[column_op->keys[i]];
    struct keys keys = {0};
    partition.keys = &keys;
    struct pool_array begins;
    partition.begins = pool_array_new(&begins, workers->pool, (size_t)job->rows, 1);
    enum status status = STATUS_OK;
    if (!keys_init(&keys, at, column_op->key_count, job->rows, workers))
        status = STATUS_CANCELLED;
    if (status == STATUS_OK)
        status = run_partition(&partition, workers);
    keys_free(&keys);
    set_range(partition.place, job->rows);
    set_range(partition.group, job->rows);
    pool_array_free(&begins);
    free(at);
    return operator_report(job, status);
}
