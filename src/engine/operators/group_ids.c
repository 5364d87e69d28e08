/* Group ids: few possible keys have a table of their ranks; few different keys are found by grouping and looked up in a
 * hash table; otherwise the rows are sorted. */
#include "engine/operators/group_quantile.h"

#include "base/buffer_pool.h"
#include "base/heap.h"
#include "base/zeroed.h"
#include "engine/grouping/grouping.h"
#include "engine/operators/operator.h"
#include "engine/vector/elements.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { PART_ROWS = 1 << 16, FEW_BITS = 12, TABLE_BITS = 24, SLOT_FACTOR = 4, WORD = 64 };

struct numbering {
    const struct workers *workers;
    const struct keys *keys;
    struct parts parts;
    uint32_t *ids;
    _Atomic uint8_t *seen; /* of each possible code */
    uint32_t *ranks;       /* of each possible code, or of each slot */
    uint64_t *slots;       /* codes in a hash table */
    int slot_bits;
    const uint64_t *order; /* sorted rows */
    int64_t *steps;        /* in each part: rows whose keys differ from those before */
    uint64_t *codes;       /* different ones, in order */
    int64_t count;
};

typedef void block_fn(const struct numbering *numbering, const uint64_t *codes, int count, int64_t row);

static void read_blocks(const struct numbering *numbering, struct part part, block_fn *fn)
{
    uint64_t codes[KEY_BLOCK];
    for (int64_t row = part.begin; row < part.end && !workers_cancelled(numbering->workers); row += KEY_BLOCK) {
        const int count = part.end - row < KEY_BLOCK ? (int)(part.end - row) : KEY_BLOCK;
        keys_read(numbering->keys, 0, row, count, codes);
        fn(numbering, codes, count, row);
    }
}

static void mark_block(const struct numbering *numbering, const uint64_t *codes, int count, int64_t row)
{
    (void)row;
    for (int i = 0; i < count; i++) {
        /* Only the first row of a code writes: most lines stay shared between the caches. */
        if (!atomic_load_explicit(&numbering->seen[codes[i]], memory_order_relaxed))
            atomic_store_explicit(&numbering->seen[codes[i]], 1, memory_order_relaxed);
    }
}

static void mark_part(void *context, struct part part)
{
    read_blocks(context, part, mark_block);
}

static void rank_block(const struct numbering *numbering, const uint64_t *codes, int count, int64_t row)
{
    for (int i = 0; i < count; i++)
        numbering->ids[row + i] = numbering->ranks[codes[i]];
}

static void rank_part(void *context, struct part part)
{
    read_blocks(context, part, rank_block);
}

static enum status number_by_table(struct numbering *numbering, const struct workers *workers, int64_t *groups)
{
    const size_t codes = (size_t)1 << numbering->keys->word_bits[0];
    numbering->seen = zeroed_alloc(codes);
    numbering->ranks = zeroed_alloc(codes * sizeof *numbering->ranks);
    enum status status = numbering->seen && numbering->ranks ? STATUS_OK : STATUS_FAILED;
    if (status == STATUS_OK && !workers_run_parts(workers, &numbering->parts, mark_part, numbering))
        status = STATUS_CANCELLED;
    uint32_t rank = 0;
    for (size_t code = 0; code < codes && status == STATUS_OK; code++) {
        numbering->ranks[code] = rank;
        rank += numbering->seen[code];
    }
    if (status == STATUS_OK && !workers_run_parts(workers, &numbering->parts, rank_part, numbering))
        status = STATUS_CANCELLED;
    *groups = rank;
    zeroed_free(numbering->seen, codes);
    zeroed_free(numbering->ranks, codes * sizeof *numbering->ranks);
    return status;
}

static bool prepare_codes(void *context, int64_t most)
{
    struct numbering *numbering = context;
    numbering->codes = heap_array((size_t)most, sizeof *numbering->codes);
    return true;
}

static void take_codes(void *context, const struct found *found)
{
    struct numbering *numbering = context;
    memcpy(numbering->codes + found->at, found->codes, (size_t)found->count * sizeof *found->codes);
}

/* Fibonacci hashing, as in group_table.c. */
static size_t slot_of(const struct numbering *numbering, uint64_t code)
{
    return (size_t)(code * UINT64_C(0x9e3779b97f4a7c15) >> (WORD - numbering->slot_bits));
}

/* The slot that has the code, or a free one for it; a free slot has rank 0, others that of their code plus 1. */
static size_t find_slot(const struct numbering *numbering, uint64_t code)
{
    const size_t mask = ((size_t)1 << numbering->slot_bits) - 1;
    size_t slot = slot_of(numbering, code);
    while (numbering->ranks[slot] != 0 && numbering->slots[slot] != code)
        slot = (slot + 1) & mask;
    return slot;
}

static void look_up_block(const struct numbering *numbering, const uint64_t *codes, int count, int64_t row)
{
    for (int i = 0; i < count; i++)
        numbering->ids[row + i] = numbering->ranks[find_slot(numbering, codes[i])] - 1;
}

static void look_up_part(void *context, struct part part)
{
    read_blocks(context, part, look_up_block);
}

static enum status number_by_hash(struct numbering *numbering, const struct workers *workers)
{
    numbering->slot_bits = 1;
    while ((INT64_C(1) << numbering->slot_bits) < numbering->count * SLOT_FACTOR)
        numbering->slot_bits++;
    numbering->slots = heap_array((size_t)1 << numbering->slot_bits, sizeof *numbering->slots);
    numbering->ranks = heap_array((size_t)1 << numbering->slot_bits, sizeof *numbering->ranks);
    for (int64_t i = 0; i < numbering->count; i++) {
        const size_t slot = find_slot(numbering, numbering->codes[i]);
        numbering->slots[slot] = numbering->codes[i];
        numbering->ranks[slot] = (uint32_t)i + 1;
    }
    const bool whole = workers_run_parts(workers, &numbering->parts, look_up_part, numbering);
    free(numbering->slots);
    free(numbering->ranks);
    return whole ? STATUS_OK : STATUS_CANCELLED;
}

/* Marks the rows of the order that begin a group; the first row of all is none. */
static int64_t mark_steps(const struct numbering *numbering, int64_t at, int count, bool *steps)
{
    uint64_t codes[KEY_BLOCK];
    int64_t all = 0;
    for (int i = 0; i < count; i++)
        steps[i] = false;
    /* Beginning with the row before. */
    const int before = at > 0;
    for (int word = 0; word < numbering->keys->words; word++) {
        keys_read_at(numbering->keys, word, numbering->order + at - before, count + before, codes);
        for (int i = 1 - before; i < count; i++)
            steps[i] = steps[i] || codes[i + before] != codes[i + before - 1];
    }
    for (int i = 0; i < count; i++)
        all += steps[i];
    return all;
}

enum { STEP_BLOCK = KEY_BLOCK - 1 };

static void count_steps(void *context, struct part part)
{
    struct numbering *numbering = context;
    bool steps[STEP_BLOCK];
    for (int64_t at = part.begin; at < part.end && !workers_cancelled(numbering->workers); at += STEP_BLOCK)
        numbering->steps[part.number] +=
            mark_steps(numbering, at, part.end - at < STEP_BLOCK ? (int)(part.end - at) : STEP_BLOCK, steps);
}

static void write_steps(void *context, struct part part)
{
    const struct numbering *numbering = context;
    bool steps[STEP_BLOCK];
    uint32_t id = (uint32_t)numbering->steps[part.number];
    for (int64_t at = part.begin; at < part.end && !workers_cancelled(numbering->workers); at += STEP_BLOCK) {
        const int count = part.end - at < STEP_BLOCK ? (int)(part.end - at) : STEP_BLOCK;
        mark_steps(numbering, at, count, steps);
        for (int i = 0; i < count; i++) {
            id += steps[i];
            numbering->ids[numbering->order[at + i]] = id;
        }
    }
}

static enum status number_sorted(struct numbering *numbering, const struct workers *workers, int64_t *groups)
{
    size_t got = 0;
    uint64_t *order = buffer_pool_alloc(workers->pool, (size_t)numbering->parts.rows * sizeof *order, &got);
    numbering->steps = heap_array((size_t)numbering->parts.count, sizeof *numbering->steps);
    enum status status = order ? order_rows(numbering->keys, numbering->parts.rows, workers, order) : STATUS_FAILED;
    numbering->order = order;
    if (status == STATUS_OK && !workers_run_parts(workers, &numbering->parts, count_steps, numbering))
        status = STATUS_CANCELLED;
    *groups = begins_of_counts(numbering->steps, numbering->parts.count) + 1;
    if (status == STATUS_OK && !workers_run_parts(workers, &numbering->parts, write_steps, numbering))
        status = STATUS_CANCELLED;
    buffer_pool_release(workers->pool, order, got);
    free(numbering->steps);
    return status;
}

enum status group_ids(const struct keys *keys, int64_t rows, const struct workers *workers, uint32_t *ids,
                      int64_t *groups)
{
    struct numbering numbering = {
        .workers = workers, .keys = keys, .parts = partition_rows(workers, rows, PART_ROWS), .ids = ids};
    const int bits = keys->word_bits[0];
    if (keys->words > 1)
        return number_sorted(&numbering, workers, groups);
    if (bits <= FEW_BITS || (bits <= TABLE_BITS && (INT64_C(1) << bits) <= rows))
        return number_by_table(&numbering, workers, groups);
    const struct group_aggregate count = {.kind = AGG_COUNT};
    const struct grouping grouping = {
        .workers = workers,
        .rows = rows,
        .keys = keys,
        .group_aggs = &count,
        .group_agg_count = 1,
        .prepare = prepare_codes,
        .emit = take_codes,
        .context = &numbering,
    };
    bool few = false;
    enum status status = group_hash(&grouping, &few, groups);
    numbering.count = *groups;
    if (status == STATUS_OK)
        status = few ? number_by_hash(&numbering, workers) : number_sorted(&numbering, workers, groups);
    free(numbering.codes);
    return status;
}

enum status operator_ids(const struct operator_job *job, const struct workers *workers, bool *flagged)
{
    (void)flagged;
    const struct column_operator *column_op = job->task->column_op;
    struct key *at = heap_array(column_op->key_count, sizeof *at);
    struct keys keys = {0};
    int64_t groups = 0;
    enum status status = STATUS_OK;
    *job->result_rows = job->rows;
    for (size_t i = 0; i < column_op->key_count; i++)
        at[i].column = job->inputs[column_op->keys[i]];
    if (job->results[0] && job->rows > 0) {
        status = keys_init(&keys, at, column_op->key_count, job->rows, workers) ? STATUS_OK : STATUS_CANCELLED;
        if (status == STATUS_OK)
            status = group_ids(&keys, job->rows, workers, column_at(job->results[0], 0), &groups);
        keys_free(&keys);
    }
    free(at);
    if (job->results[0]) {
        column_set_range(job->results[0], groups > 0, 0, groups - 1);
    }
    return operator_report(job, status);
}
