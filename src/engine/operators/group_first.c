/* The least keys are those of the first groups: each thread keeps the least it has seen, in order, and lists the rows
 * that may have one of them. A sample tells the first cut, and whether most rows are behind it. */
#include "engine/operators/group_first.h"

#include "engine/sorting/sort_keys.h"

#include "base/heap.h"
#include "base/integer.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_ROWS = 1 << 17,
    PART_ROWS = 1 << 16,
    GATHER_ROWS = 1 << 14,
    SAMPLE = 1 << 13,
    SHARE = 8 /* more rows than one in so many are not worth being copied */
};

/* The rows of a part that may be of the first groups. */
struct listed {
    uint64_t *rows;
    size_t count, capacity;
};

struct choice {
    const struct keys *keys; /* whose first words are compared */
    const struct workers *workers;
    int64_t first;
    _Atomic uint64_t cut; /* at least that many keys are up to it */
    uint64_t **least;     /* of each thread: the least keys, in order, */
    int64_t *counts;      /* and how many there are, up to `first` */
    struct parts parts;
    struct listed *listed;
};

/* The first of the sorted codes that is not less. */
static int64_t find_code(const uint64_t *codes, int64_t count, uint64_t code)
{
    int64_t begin = 0, end = count;
    while (begin < end) {
        const int64_t middle = begin + (end - begin) / 2;
        if (codes[middle] < code)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* Adds a key to the least ones of a thread; with enough of them the last one is a cut. */
static void add_code(struct choice *choice, int member, uint64_t code)
{
    uint64_t *least = choice->least[member];
    int64_t count = choice->counts[member];
    const int64_t at = find_code(least, count, code);
    if (at == choice->first || (at < count && least[at] == code))
        return;
    count += count < choice->first;
    memmove(least + at + 1, least + at, (size_t)(count - at - 1) * sizeof *least);
    least[at] = code;
    choice->counts[member] = count;
    uint64_t cut = choice->cut;
    while (count == choice->first && least[count - 1] < cut &&
           !atomic_compare_exchange_weak(&choice->cut, &cut, least[count - 1]))
        ;
}

static void choose_part(void *context, struct part part)
{
    struct choice *choice = context;
    struct listed *listed = &choice->listed[part.number];
    uint64_t codes[KEY_BLOCK];
    uint16_t passed[KEY_BLOCK];
    for (int64_t row = part.begin; row < part.end && !workers_cancelled(choice->workers); row += KEY_BLOCK) {
        const int count = part.end - row < KEY_BLOCK ? (int)(part.end - row) : KEY_BLOCK;
        const uint64_t cut = atomic_load_explicit(&choice->cut, memory_order_relaxed);
        int found = 0;
        keys_read(choice->keys, 0, row, count, codes);
        for (int i = 0; i < count; i++) {
            passed[found] = (uint16_t)i;
            found += codes[i] <= cut;
        }
        for (int i = 0; i < found; i++) {
            add_code(choice, part.member, codes[passed[i]]);
            *HEAP_PUSH(listed->rows, listed->count, listed->capacity) = (uint64_t)(row + passed[i]);
        }
    }
}

/* Sets the first cut; false if too many rows seem to be before it. */
static bool look_at_sample(struct choice *choice, int64_t rows)
{
    uint64_t codes[SAMPLE], places[KEY_BLOCK];
    for (int64_t i = 0; i < SAMPLE; i += KEY_BLOCK) {
        for (int64_t k = 0; k < KEY_BLOCK; k++)
            places[k] = (uint64_t)((i + k) * (rows / SAMPLE));
        keys_read_at(choice->keys, 0, places, KEY_BLOCK, codes + i);
    }
    qsort(codes, SAMPLE, sizeof *codes, compare_uint64);
    int64_t different = 0;
    for (int64_t i = 0; i < SAMPLE / SHARE; i++) {
        different += i == 0 || codes[i] != codes[i - 1];
        if (different > choice->first)
            return true;
        choice->cut = codes[i];
    }
    return false;
}

/* The last of the first keys, of all threads. */
static uint64_t last_cut(const struct choice *choice)
{
    const size_t members = (size_t)choice->workers->threads;
    uint64_t *codes = heap_array(members * (size_t)choice->first, sizeof *codes);
    int64_t count = 0, different = 0;
    for (size_t i = 0; i < members; i++) {
        memcpy(codes + count, choice->least[i], (size_t)choice->counts[i] * sizeof *codes);
        count += choice->counts[i];
    }
    qsort(codes, (size_t)count, sizeof *codes, compare_uint64);
    uint64_t cut = choice->cut;
    for (int64_t i = 0; i < count && different < choice->first; i++) {
        different += i == 0 || codes[i] != codes[i - 1];
        cut = codes[i];
    }
    free(codes);
    return cut;
}

/* The listed rows up to the last cut; returns their number. */
static int64_t collect(const struct choice *choice, uint64_t **rows)
{
    const uint64_t cut = last_cut(choice);
    int64_t most = 0, count = 0;
    for (int64_t part = 0; part < choice->parts.count; part++)
        most += (int64_t)choice->listed[part].count;
    *rows = heap_array((size_t)most, sizeof **rows);
    for (int64_t part = 0; part < choice->parts.count; part++) {
        const struct listed *listed = &choice->listed[part];
        uint64_t codes[KEY_BLOCK];
        for (size_t i = 0; i < listed->count; i += KEY_BLOCK) {
            const int block = listed->count - i < KEY_BLOCK ? (int)(listed->count - i) : KEY_BLOCK;
            keys_read_at(choice->keys, 0, listed->rows + i, block, codes);
            for (int k = 0; k < block; k++) {
                (*rows)[count] = listed->rows[i + (size_t)k];
                count += codes[k] <= cut;
            }
        }
    }
    return count;
}

struct gathering {
    const struct operator_job *job;
    const uint64_t *rows;
    struct column **columns;
};

static void gather_part(void *context, struct part part)
{
    const struct gathering *gathering = context;
    for (size_t k = 0; k < gathering->job->task->input_count; k++) {
        for (int64_t row = part.begin; gathering->columns[k] && row < part.end; row += KEY_BLOCK) {
            const int count = part.end - row < KEY_BLOCK ? (int)(part.end - row) : KEY_BLOCK;
            column_gather(gathering->job->inputs[k], gathering->rows + row, count,
                          column_at(gathering->columns[k], row));
        }
    }
}

/* The inputs in these rows. */
static enum status gather(const struct operator_job *job, const struct workers *workers, const uint64_t *rows,
                          int64_t count, struct first_groups *groups)
{
    const size_t inputs = job->task->input_count;
    groups->columns = heap_array(inputs + 1, sizeof *groups->columns);
    groups->count = inputs;
    for (size_t k = 0; k < inputs; k++) {
        const struct column *column = job->inputs[k];
        if (!column)
            continue;
        groups->columns[k] = column_reserve_like(job->pool, column, column->type, count);
        if (!groups->columns[k])
            return STATUS_FAILED;
    }
    struct gathering gathering = {job, rows, groups->columns};
    if (!workers_run_rows(workers, count, GATHER_ROWS, gather_part, &gathering))
        return STATUS_CANCELLED;
    for (size_t k = 0; k < inputs; k++) {
        if (groups->columns[k])
            column_finish(groups->columns[k], count);
    }
    groups->job.inputs = groups->columns;
    groups->job.rows = count;
    return STATUS_OK;
}

static enum status choose(struct choice *choice, const struct operator_job *job, struct first_groups *groups)
{
    const struct workers *workers = choice->workers;
    const size_t members = (size_t)workers->threads;
    choice->parts = partition_rows(workers, job->rows, PART_ROWS);
    choice->listed = heap_array((size_t)choice->parts.count, sizeof *choice->listed);
    choice->counts = heap_array(members, sizeof *choice->counts);
    choice->least = heap_array(members, sizeof *choice->least);
    for (size_t i = 0; i < members; i++)
        choice->least[i] = heap_array((size_t)choice->first, sizeof *choice->least[i]);
    enum status status = STATUS_CANCELLED;
    if (workers_run_parts(workers, &choice->parts, choose_part, choice)) {
        uint64_t *rows;
        const int64_t count = collect(choice, &rows);
        status = count <= job->rows / SHARE ? gather(job, workers, rows, count, groups) : STATUS_OK;
        free(rows);
    }
    for (int64_t part = 0; part < choice->parts.count; part++)
        free(choice->listed[part].rows);
    for (size_t i = 0; i < members; i++)
        free(choice->least[i]);
    free(choice->least);
    free(choice->counts);
    free(choice->listed);
    return status;
}

enum status first_groups_find(const struct operator_job *job, const struct workers *workers,
                              struct first_groups *groups)
{
    const struct column_operator *column_op = job->task->column_op;
    *groups = (struct first_groups){.job = *job};
    if (column_op->first <= 0 || column_op->first > SAMPLE / SHARE || job->rows < LEAST_ROWS)
        return STATUS_OK;
    struct keys keys;
    struct key *at = heap_array(column_op->key_count, sizeof *at);
    for (size_t i = 0; i < column_op->key_count; i++)
        at[i].column = job->inputs[column_op->keys[i]];
    enum status status = STATUS_CANCELLED;
    if (keys_init(&keys, at, column_op->key_count, job->rows, workers)) {
        struct choice choice = {.keys = &keys, .workers = workers, .first = column_op->first};
        status = look_at_sample(&choice, job->rows) ? choose(&choice, job, groups) : STATUS_OK;
    }
    keys_free(&keys);
    free(at);
    return status;
}

void first_groups_free(struct first_groups *groups)
{
    columns_unref(groups->columns, groups->count);
    free(groups->columns);
}
